// SPDX-License-Identifier: MIT
use crate::random::Random;
use crate::Kernel;
use rayon::ThreadPool;

const TICKS: usize = 3;
const LEAF: usize = 256;

#[derive(Clone, Copy, Default)]
struct Vector {
    x: f64,
    y: f64,
    z: f64,
}

#[derive(Clone, Copy, Default)]
struct Body {
    position: Vector,
    velocity: Vector,
    mass: f64,
}

pub struct Nbody {
    now: Vec<Body>,
    next: Vec<Body>,
    first: Vec<Body>,
}

impl Vector {
    fn add(self, b: Vector) -> Vector {
        Vector { x: self.x + b.x, y: self.y + b.y, z: self.z + b.z }
    }

    fn scale(self, factor: f64) -> Vector {
        Vector { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}

fn pull_leaf(bodies: &[Body], place: Vector) -> Vector {
    let mut pull = Vector::default();
    for body in bodies {
        let x = body.position.x - place.x;
        let y = body.position.y - place.y;
        let z = body.position.z - place.z;
        let square = x * x + y * y + z * z + 1e-4;
        let factor = body.mass / (square * square.sqrt());
        pull.x += x * factor;
        pull.y += y * factor;
        pull.z += z * factor;
    }
    pull
}

fn pull(bodies: &[Body], place: Vector) -> Vector {
    if bodies.len() <= LEAF {
        return pull_leaf(bodies, place);
    }
    let (l, r) = bodies.split_at(bodies.len() / 2);
    let (left, right) = rayon::join(|| pull(l, place), || pull(r, place));
    left.add(right)
}

fn moved(body: Body, pull: Vector) -> Body {
    const TICK: f64 = 1e-3;
    let velocity = body.velocity.add(pull.scale(TICK));
    let position = body.position.add(velocity.scale(TICK));
    Body { position, velocity, mass: body.mass }
}

/// `next` is what becomes of the bodies of `now` from `lo` on.
fn tick(now: &[Body], lo: usize, next: &mut [Body]) {
    if next.len() == 1 {
        next[0] = moved(now[lo], pull(now, now[lo].position));
        return;
    }
    let half = next.len() / 2;
    let (left, right) = next.split_at_mut(half);
    rayon::join(|| tick(now, lo, left), || tick(now, lo + half, right));
}

fn coordinate(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

impl Nbody {
    pub fn new(size: usize) -> Nbody {
        let mut random = Random(1);
        let mut first = vec![Body::default(); size];
        for body in &mut first {
            body.mass = 1.0 / size as f64;
            body.position.x = coordinate(&mut random);
            body.position.y = coordinate(&mut random);
            body.position.z = coordinate(&mut random);
        }
        Nbody { now: first.clone(), next: first.clone(), first }
    }
}

impl Kernel for Nbody {
    fn reset(&mut self) {
        self.now.copy_from_slice(&self.first);
    }

    fn run(&mut self, pool: &ThreadPool) {
        let (now, next) = (&mut self.now, &mut self.next);
        pool.install(|| {
            for _ in 0..TICKS {
                tick(now, 0, next);
                std::mem::swap(now, next);
            }
        });
    }

    fn checksum(&self) -> u64 {
        let mut sum = 0.0;
        for (i, body) in self.now.iter().enumerate() {
            let p = body.position;
            let weight = (i % 7 + 1) as f64;
            sum += weight * (p.x + 2.0 * p.y + 3.0 * p.z).abs() / self.now.len() as f64;
        }
        (sum * 1e8 + 0.5) as u64
    }
}
