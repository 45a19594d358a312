// SPDX-License-Identifier: MIT
use crate::random::Random;
use crate::Kernel;
use rayon::ThreadPool;
use std::ptr::null;

/// Laid out as in C: nodes in one block, with pointers between them.
struct Node {
    left: *const Node,
    right: *const Node,
    value: i64,
}

/// Nobody writes to the nodes once they are made.
unsafe impl Sync for Node {}

pub struct Treesum {
    nodes: Vec<Node>,
    result: i64,
}

fn sum(node: &Node) -> i64 {
    if node.left.is_null() {
        return node.value;
    }
    let (l, r) = unsafe { (&*node.left, &*node.right) };
    let (left, right) = rayon::join(|| sum(l), || sum(r));
    node.value + left + right
}

/// The vector has room for all nodes, so they stay where they are.
fn grow(nodes: &mut Vec<Node>, levels: usize, random: &mut Random) -> *const Node {
    let index = nodes.len();
    let value = (random.next() % 1000) as i64;
    nodes.push(Node { left: null(), right: null(), value });
    if levels > 1 {
        nodes[index].left = grow(nodes, levels - 1, random);
        nodes[index].right = grow(nodes, levels - 1, random);
    }
    &nodes[index]
}

impl Treesum {
    pub fn new(levels: usize) -> Treesum {
        let mut nodes = Vec::with_capacity((1 << levels) - 1);
        grow(&mut nodes, levels, &mut Random(1));
        Treesum { nodes, result: 0 }
    }
}

impl Kernel for Treesum {
    fn reset(&mut self) {
        self.result = 0;
    }

    fn run(&mut self, pool: &ThreadPool) {
        let root = &self.nodes[0];
        self.result = pool.install(|| sum(root));
    }

    fn checksum(&self) -> u64 {
        self.result as u64
    }
}
