/* SPDX-License-Identifier: MIT */
/* weft/cxx/graph.hpp: jobs that wait for other jobs. Part of weft.hpp.
 *
 *     weft::graph graph;
 *     int parse = graph.add([&](weft *w) { parse_unit(w, unit); }, "parse");
 *     int build = graph.add([&](weft *w) { build_unit(w, unit); }, "build");
 *     graph.edge(parse, build);
 *     graph.run(w);
 *
 * A graph may be run again and again. If a node throws, nodes that have not begun never do, and
 * run() throws the first exception when the others are over. weft/graph.h says the rest. */
#ifndef WEFT_CXX_GRAPH_HPP
#define WEFT_CXX_GRAPH_HPP

#include "../graph.h"
#include "pool.hpp"

#include <forward_list>
#include <memory>

class weft::graph
{
  public:
    graph()
    {
        weft_cxx_::check(weft_graph_create(&graph_));
    }
    ~graph()
    {
        weft_graph_destroy(graph_);
    }
    graph(const graph &) = delete;
    graph &operator=(const graph &) = delete;

    /* A node that calls f(w) or f(); its number. */
    template <class F> int add(F &&f, const char *name = nullptr)
    {
        auto *one = keep(std::forward<F>(f));
        return number(weft_graph_add(graph_, name, run_node<std::decay_t<F>>, one));
    }
    /* A node whose function returns the number of the edge that leads to the next node. */
    template <class F> int add_condition(F &&f, const char *name = nullptr)
    {
        auto *one = keep(std::forward<F>(f));
        return number(weft_graph_add_condition(graph_, name, ask_node<std::decay_t<F>>, one));
    }
    /* `to` begins when `from` is over. */
    void edge(int from, int to)
    {
        weft_cxx_::check(weft_graph_edge(graph_, from, to));
    }

    /* Returns when all is over. */
    void run(weft *w)
    {
        weft_cxx_::failure failed;
        weft_cxx_::failure *none = nullptr;
        int error = -EBUSY;
        /* acquire, release: runs come one after the other; their nodes are told by the pool. */
        if (failed_.compare_exchange_strong(none, &failed, std::memory_order_acquire)) {
            error = weft_graph_run(w, graph_);
            failed_.store(nullptr, std::memory_order_release);
        }
        failed.check(error);
    }
    void run()
    {
        weft_cxx_::in_job([this](weft *w) { run(w); });
    }
    /* For the functions of C; also for weft_graph_run(), but not while run() runs it. There is no
     * exception in C: if a node throws, weft_graph_run() returns a code that is no errno value. */
    weft_graph *get() const noexcept
    {
        return graph_;
    }

  private:
    struct node_base {
        graph *of;
        explicit node_base(graph *g) : of(g)
        {
        }
        virtual ~node_base() = default;
    };
    template <class F> struct node final : node_base {
        F function;
        template <class G> node(graph *g, G &&f) : node_base(g), function(std::forward<G>(f))
        {
        }
    };

    template <class F> node_base *keep(F &&f)
    {
        nodes_.push_front(std::make_unique<node<std::decay_t<F>>>(this, std::forward<F>(f)));
        return nodes_.front().get();
    }
    static int number(int node)
    {
        if (node < 0)
            weft_cxx_::raise(node);
        return node;
    }
    template <class F> void attempt_in(weft *w, F &&part)
    {
        weft_cxx_::failure dropped; /* where C runs the graph */
        /* relaxed: the run has set it before the node was started. */
        weft_cxx_::failure *kept = failed_.load(std::memory_order_relaxed);
        (kept ? *kept : dropped).attempt_in(w, part);
    }
    template <class F> static void run_node(weft *w, void *arg)
    {
        auto *one = static_cast<node<F> *>(static_cast<node_base *>(arg));
        one->of->attempt_in(w, [&]() -> void { weft_cxx_::call(one->function, w); });
    }
    template <class F> static int ask_node(weft *w, void *arg)
    {
        auto *one = static_cast<node<F> *>(static_cast<node_base *>(arg));
        int edge = -1;
        one->of->attempt_in(w, [&] { edge = static_cast<int>(weft_cxx_::call(one->function, w)); });
        return edge;
    }

    weft_graph *graph_ = nullptr;
    std::atomic<weft_cxx_::failure *> failed_{nullptr}; /* of the run; nullptr: it does not run */
    std::forward_list<std::unique_ptr<node_base>> nodes_;
};

#endif
