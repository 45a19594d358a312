/* SPDX-License-Identifier: MIT */
#include "os/overflow.h"

#include "core/atomic.h"
#include "os/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HANDLER_STACK = 64 * 1024, REACH = 64 * 1024 };

static _Thread_local struct {
    unsigned worker;
    const char *low; /* end of the stack; NULL: not a worker */
    size_t size;
    void *handler_stack; /* ours to free; NULL if the thread had one already */
} here;

static struct sigaction before_segv, before_bus;
static const char *(*explain_other)(const void *address);
static struct {
    _Atomic(weft__rescue *) value;
} rescue;

/* snprintf is not async-signal-safe by the letter; glibc's does not allocate for these
 * conversions, and the process is about to abort. */
static void explain_stack(void)
{
    char text[200];
    int n = snprintf(text, sizeof text,
                     "weft: worker %u overflowed its stack of %zu KiB; "
                     "give workers more with weft_config.stack_size\n",
                     here.worker, here.size / 1024);
    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        _exit(128 + SIGABRT);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    const char *address = info->si_addr;
    if (here.low && address >= here.low - REACH && address < here.low + REACH) {
        explain_stack();
        abort();
    }
    weft__rescue *way_out = atomic_load_relaxed(&rescue); /* relaxed: a function of the library */
    if (way_out && way_out(address))
        return;
    const char *other = explain_other(address);
    if (other) {
        if (write(STDERR_FILENO, other, strlen(other)) < 0)
            _exit(128 + SIGABRT);
        abort();
    }
    const struct sigaction *before = signal == SIGBUS ? &before_bus : &before_segv;
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(signal, info, context);
    } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(signal);
    } else {
        sigaction(signal, before, NULL); /* the instruction faults again, unhandled, */
        if (info->si_code <= 0)
            raise(signal); /* unless there was none: somebody sent it */
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

void weft__overflow_watch(const char *(*explain)(const void *address))
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    explain_other = explain;
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
