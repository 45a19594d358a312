/* SPDX-License-Identifier: MIT */
/* musl.c: what Debian's libgcc takes for granted in libc, for programs of musl-gcc: glibc's
 * _dl_find_object(3). A gcc that was made for musl does not ask for it. */
#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct found {
    unsigned long long flags;
    void *start, *end;
    struct link_map *map;
    void *frames; /* PT_GNU_EH_FRAME */
    unsigned long long reserved[7];
};

struct search {
    uintptr_t address;
    struct found *found;
};

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct search *search = arg;
    const ElfW(Phdr) *frames = NULL;
    int is_inside = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && search->address - info->dlpi_addr - p->p_vaddr < p->p_memsz) {
            is_inside = 1;
            search->found->start = (void *)(info->dlpi_addr + p->p_vaddr);
            search->found->end = (char *)search->found->start + p->p_memsz;
        }
        if (p->p_type == PT_GNU_EH_FRAME)
            frames = p;
    }
    if (!is_inside || !frames)
        return 0;
    search->found->frames = (void *)(info->dlpi_addr + frames->p_vaddr);
    return 1;
}

int _dl_find_object(void *address, struct found *found);
int _dl_find_object(void *address, struct found *found)
{
    return dl_iterate_phdr(look, &(struct search){(uintptr_t)address, found}) == 1 ? 0 : -1;
}
