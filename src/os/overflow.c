/* SPDX-License-Identifier: MIT */
#include "os/overflow.h"

#include "os/atomic.h"
#include "os/memory.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HANDLER_STACK = 64 * 1024, REACH = 64 * 1024 };

static _Thread_local struct {
    unsigned worker;
    bool visitor;    /* an outside thread */
    const char *low; /* end of the stack; NULL: neither a worker nor a visitor */
    size_t size;
    void *handler_stack; /* ours to free; NULL if the thread had one already */
} here;

static struct sigaction before_segv, before_bus;
static struct {
    _Atomic(weft__nested *) value;
} nested_here;
static struct {
    _Atomic(weft__rescue *) value;
} rescue;

/* snprintf is not async-signal-safe by the letter; glibc's does not allocate for these
 * conversions, and the process is about to abort. */
static void explain_stack(unsigned nested)
{
    char text[300], who[40];
    snprintf(who, sizeof who, "worker %u", here.worker);
    int n =
        snprintf(text, sizeof text, "weft: %s overflowed its stack of %zu KiB, %u job%s deep; %s\n",
                 here.visitor ? "a thread inside weft_run" : who, here.size / 1024, nested,
                 nested == 1 ? "" : "s",
                 here.visitor ? "give it more (ulimit -s, pthread_attr_setstacksize), or leave "
                                "its jobs to workers (WEFT_NO_GUESTS)"
                              : "give workers more with weft_config.stack_size");
    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        _exit(128 + SIGABRT);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    const char *address = info->si_addr;
    if (here.low && address >= here.low - REACH && address < here.low + REACH) {
        weft__nested *count = atomic_load_relaxed(&nested_here); /* relaxed: a function of the
                                                                    library */
        unsigned nested = count();
        if (nested > 0 || !here.visitor) { /* else the fault is not in a job */
            explain_stack(nested);
            abort();
        }
    }
    weft__rescue *way_out = atomic_load_relaxed(&rescue); /* relaxed: the same */
    if (way_out && way_out(address, context))
        return;
    const struct sigaction *before = signal == SIGBUS ? &before_bus : &before_segv;
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(signal, info, context);
    } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(signal);
    } else {
        sigaction(signal, before, NULL); /* the instruction faults again, unhandled */
        if (info->si_code <= 0)
            raise(signal); /* it was sent by kill(): no instruction faults again */
    }
}

static void install(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
}

void weft__overflow_watch(weft__nested *nested)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    /* relaxed: all callers store the same, and before the handler is installed. */
    atomic_store_relaxed(&nested_here, nested);
    pthread_once(&once, install);
}

void weft__overflow_rescue_by(weft__rescue *by)
{
    atomic_store_relaxed(&rescue, by); /* relaxed: as above */
}

void *weft__overflow_lend(void)
{
    stack_t current;
    if (sigaltstack(NULL, &current) || !(current.ss_flags & SS_DISABLE))
        return NULL;
    void *lent = weft__scratch(HANDLER_STACK);
    if (lent)
        sigaltstack(&(stack_t){.ss_sp = lent, .ss_size = HANDLER_STACK}, NULL);
    return lent;
}

void weft__overflow_take_back(void *lent)
{
    if (!lent)
        return;
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    weft__free(lent);
}

void weft__overflow_enter(unsigned worker)
{
    pthread_attr_t attr;
    void *low;
    if (pthread_getattr_np(pthread_self(), &attr))
        return;
    pthread_attr_getstack(&attr, &low, &here.size);
    pthread_attr_destroy(&attr);
    stack_t current;
    if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE)) {
        here.handler_stack = weft__alloc(HANDLER_STACK);
        if (!here.handler_stack)
            return;
        stack_t ours = {.ss_sp = here.handler_stack, .ss_size = HANDLER_STACK};
        sigaltstack(&ours, NULL);
    }
    here.worker = worker;
    here.low = low;
}

void weft__overflow_leave(void)
{
    here.low = NULL;
    if (!here.handler_stack)
        return;
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    weft__free(here.handler_stack);
    here.handler_stack = NULL;
}

/* ---- Threads that are not the pool's own ---- */

static pthread_key_t visitors;
static bool have_key;

/* At the end of the thread. If it has installed another stack meanwhile, that stack stays. */
static void visitor_leaves(void *handler_stack)
{
    stack_t current;
    if (sigaltstack(NULL, &current) == 0 && current.ss_sp == handler_stack)
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    munmap(handler_stack, HANDLER_STACK);
    here.low = NULL;
}

static void make_key(void)
{
    have_key = pthread_key_create(&visitors, visitor_leaves) == 0;
}

/* Mapped, not allocated: the program did not ask for this memory, so it must not fail in place of
 * an allocation of the program's. */
static bool give_stack(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    stack_t current;
    pthread_once(&once, make_key);
    if (sigaltstack(NULL, &current))
        return false;
    if (!(current.ss_flags & SS_DISABLE))
        return true;
    void *ours = have_key ? mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                          : MAP_FAILED;
    if (ours == MAP_FAILED)
        return false;
    if (pthread_setspecific(visitors, ours)) {
        munmap(ours, HANDLER_STACK);
        return false;
    }
    return sigaltstack(&(stack_t){.ss_sp = ours, .ss_size = HANDLER_STACK}, NULL) == 0;
}

void weft__overflow_visit(const char *low, const char *high)
{
    static _Thread_local bool tried;
    if (tried || here.low)
        return;
    tried = true;
    int saved = errno;
    if (give_stack()) {
        here.visitor = true;
        here.size = (size_t)(high - low);
        here.low = low;
    }
    errno = saved;
}
