/* SPDX-License-Identifier: MIT */
#include "os/fault.h"

#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <ucontext.h>

/* ---- The interrupted code ---- */

enum { RED_ZONE = 256 }; /* below the stack pointer: the interrupted function may use it */

#if defined __x86_64__

const void *weft__fault_code(const void *ucontext)
{
    return (const void *)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP];
}

char *weft__fault_stack(const void *ucontext)
{
    return (char *)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RSP];
}

/* As after a call: a return address is on the stack. */
bool weft__fault_divert(void *ucontext, char *sp, void (*fn)(void *), void *arg)
{
    greg_t *registers = ((ucontext_t *)ucontext)->uc_mcontext.gregs;
    uintptr_t *top = (uintptr_t *)(((uintptr_t)sp - RED_ZONE) & ~(uintptr_t)15) - 1;
    *top = 0;
    registers[REG_RSP] = (greg_t)(uintptr_t)top;
    registers[REG_RIP] = (greg_t)(uintptr_t)fn;
    registers[REG_RDI] = (greg_t)(uintptr_t)arg;
    return true;
}

#elif defined __aarch64__

const void *weft__fault_code(const void *ucontext)
{
    return (const void *)(uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.pc;
}

char *weft__fault_stack(const void *ucontext)
{
    return (char *)(uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.sp;
}

bool weft__fault_divert(void *ucontext, char *sp, void (*fn)(void *), void *arg)
{
    mcontext_t *machine = &((ucontext_t *)ucontext)->uc_mcontext;
    machine->sp = ((uintptr_t)sp - RED_ZONE) & ~(uintptr_t)15;
    machine->pc = (uintptr_t)fn;
    machine->regs[0] = (uintptr_t)arg;
    machine->regs[29] = machine->regs[30] = 0;
    return true;
}

#else

const void *weft__fault_code(const void *ucontext)
{
    (void)ucontext;
    return NULL;
}

char *weft__fault_stack(const void *ucontext)
{
    (void)ucontext;
    return NULL;
}

bool weft__fault_divert(void *ucontext, char *sp, void (*fn)(void *), void *arg)
{
    (void)ucontext;
    (void)sp;
    (void)fn;
    (void)arg;
    return false;
}

#endif

/* ---- Whose code it is ---- */

struct object {
    const char *name;
    uintptr_t knows; /* an address in it */
    uintptr_t low, high;
};

static struct object objects[4];

static void note_object(const struct dl_phdr_info *info, uintptr_t low, uintptr_t high)
{
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
        if (objects[i].knows == info->dlpi_addr ||
            (objects[i].knows >= low && objects[i].knows < high)) {
            objects[i].low = low;
            objects[i].high = high;
        }
}

/* The first object is the program. */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *is_first)
{
    (void)size;
    bool first = *(bool *)is_first;
    *(bool *)is_first = false;
    for (size_t i = 0; i < info->dlpi_phnum && !first; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t low = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && part->p_flags & PF_X)
            note_object(info, low, low + part->p_memsz);
    }
    return 0;
}

static void learn(void)
{
    bool is_first = true;
    objects[0] = (struct object){.name = "malloc's library", .knows = (uintptr_t)malloc};
    objects[1] = (struct object){.name = "the C library", .knows = (uintptr_t)getauxval};
    objects[2] = (struct object){.name = "the dynamic linker", .knows = getauxval(AT_BASE)};
    objects[3] = (struct object){.name = "weft", .knows = (uintptr_t)weft__code_learn};
    dl_iterate_phdr(look_at_object, &is_first);
}

void weft__code_learn(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, learn);
}

const char *weft__code_name(const void *code)
{
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
        if ((uintptr_t)code >= objects[i].low && (uintptr_t)code < objects[i].high)
            return objects[i].name;
    return NULL;
}
