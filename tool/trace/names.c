/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "names.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef WEFT_HAVE_LIBELF
#include <gelf.h>
#endif

enum { MODULES_MOST = 1024, LISTS_MOST = 4, SYMBOLS_MOST = 1 << 22, KEPT = 64, NAME_SIZE = 200 };

struct symbol {
    uint64_t begin, end; /* in the file */
    char *name;
};

struct module {
    uint64_t begin, end, offset; /* end of the mapping, and where in the file it begins */
    char *path;
    bool looked; /* for symbols */
    struct symbol *symbols;
    size_t count, room;
};

struct names {
    uint64_t started; /* files that are younger are others by now */
    struct module *modules;
    size_t count;
    struct kept {
        uint64_t address;
        char name[NAME_SIZE];
    } kept[KEPT]; /* by address */
};

/* ---- Modules ---- */

/* A line as in proc_pid_maps(5): BEGIN-END PERMISSIONS OFFSET DEVICE INODE PATH */
static bool parse(const char *line, struct module *out)
{
    int path = 0;
    *out = (struct module){0};
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &out->begin, &out->end,
               &out->offset, &path) != 3 ||
        path == 0 || line[path] != '/' || out->begin >= out->end)
        return false;
    out->path = strdup(line + path);
    return out->path;
}

static void read_lines(struct names *names, const char *text, size_t size)
{
    while (size > 0 && names->count < MODULES_MOST) {
        char line[1200];
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        size_t copied = length < sizeof line - 1 ? length : sizeof line - 1;
        memcpy(line, text, copied);
        line[copied] = 0;
        names->count += parse(line, &names->modules[names->count]);
        size -= end ? length + 1 : length;
        text += end ? length + 1 : length;
    }
}

static struct names *make(uint64_t started)
{
    struct names *names = calloc(1, sizeof *names);
    if (!names)
        return NULL;
    names->modules = calloc(MODULES_MOST, sizeof *names->modules);
    if (!names->modules) {
        free(names);
        return NULL;
    }
    names->started = started;
    return names;
}

struct names *names_open(const struct trace *trace)
{
    struct names *names = make(trace_about(trace)->started);
    for (unsigned age = 0; names && age < LISTS_MOST; age++) {
        size_t size;
        const char *text = trace_modules(trace, age, &size);
        if (!text)
            break;
        read_lines(names, text, size);
    }
    return names;
}

struct names *names_open_lines(const char *text, size_t size, uint64_t started)
{
    struct names *names = make(started);
    if (names)
        read_lines(names, text, size);
    return names;
}

void names_close(struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        struct module *module = &names->modules[i];
        for (size_t k = 0; k < module->count; k++)
            free(module->symbols[k].name);
        free(module->symbols);
        free(module->path);
    }
    free(names->modules);
    free(names);
}

/* ---- Symbols ---- */

#ifdef WEFT_HAVE_LIBELF
static int compare(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Where in the file an address of the file lies; false: nowhere. */
static bool in_file(Elf *elf, uint64_t address, uint64_t *offset)
{
    size_t count;
    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr part;
        if (!gelf_getphdr(elf, (int)i, &part))
            return false;
        if (part.p_type != PT_LOAD || address < part.p_vaddr ||
            address - part.p_vaddr >= part.p_filesz)
            continue;
        *offset = address - part.p_vaddr + part.p_offset;
        return true;
    }
    return false;
}

static void add(struct module *module, uint64_t begin, uint64_t size, const char *name)
{
    if (module->count == module->room) {
        size_t room = module->room ? 2 * module->room : 256;
        struct symbol *more = realloc(module->symbols, room * sizeof *more);
        if (!more)
            return;
        module->symbols = more;
        module->room = room;
    }
    char *copy = strdup(name);
    if (copy)
        module->symbols[module->count++] = (struct symbol){begin, begin + (size ? size : 1), copy};
}

static void read_table(struct module *module, Elf *elf, Elf_Scn *section, const GElf_Shdr *head)
{
    Elf_Data *data = elf_getdata(section, NULL);
    uint64_t count = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
    for (uint64_t i = 0; data && i < count && module->count < SYMBOLS_MOST; i++) {
        GElf_Sym symbol;
        uint64_t offset;
        if (!gelf_getsym(data, (int)i, &symbol))
            return;
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
            !in_file(elf, symbol.st_value, &offset))
            continue;
        const char *name = elf_strptr(elf, head->sh_link, symbol.st_name);
        if (name && *name)
            add(module, offset, symbol.st_size, name);
    }
}

static void read_symbols(struct module *module, Elf *elf, uint32_t type)
{
    Elf_Scn *section = NULL;
    GElf_Shdr head;
    while ((section = elf_nextscn(elf, section)))
        if (gelf_getshdr(section, &head) && head.sh_type == type)
            read_table(module, elf, section, &head);
}

static bool is_same_file(int fd, uint64_t started)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return false;
    return (uint64_t)about.st_mtim.tv_sec <= started / 1000000000;
}

static void look_for_symbols(struct module *module, uint64_t started)
{
    int fd = open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    Elf *elf = NULL;
    if (is_same_file(fd, started) && elf_version(EV_CURRENT) != EV_NONE)
        elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf) {
        read_symbols(module, elf, SHT_SYMTAB);
        if (module->count == 0)
            read_symbols(module, elf, SHT_DYNSYM);
        elf_end(elf);
    }
    close(fd);
    if (module->count > 0)
        qsort(module->symbols, module->count, sizeof *module->symbols, compare);
}
#else
static void look_for_symbols(struct module *module, uint64_t started)
{
    (void)module, (void)started;
}
#endif

static const char *symbol_at(const struct module *module, uint64_t offset)
{
    size_t low = 0, high = module->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module->symbols[middle].begin <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    /* Several names may begin at the same place, some without a size. */
    for (size_t i = low; i > 0 && low - i < 8; i--)
        if (offset < module->symbols[i - 1].end)
            return module->symbols[i - 1].name;
    return NULL;
}

/* ---- Names ---- */

/* There if the program is linked with the C++ library, for the benchmarks. */
extern char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status)
    __attribute__((weak));

/* Parameters are left out: functions that are jobs all have the same. */
static void put_symbol(char out[NAME_SIZE], const char *symbol)
{
    int status = -1;
    char *plain = NULL;
    if (symbol[0] == '_' && symbol[1] == 'Z' && __cxa_demangle)
        plain = __cxa_demangle(symbol, NULL, NULL, &status);
    snprintf(out, NAME_SIZE, "%s", plain && status == 0 ? plain : symbol);
    char *parameters = plain ? strstr(out, "(weft*, void*)") : NULL;
    if (parameters && parameters[strlen("(weft*, void*)")] == 0)
        *parameters = 0;
    free(plain);
}

static struct module *module_of(struct names *names, uint64_t address)
{
    for (size_t i = 0; i < names->count; i++)
        if (address >= names->modules[i].begin && address < names->modules[i].end)
            return &names->modules[i];
    return NULL;
}

static void look_up(struct names *names, uint64_t address, char out[NAME_SIZE])
{
    struct module *module = module_of(names, address);
    if (!module) {
        snprintf(out, NAME_SIZE, address ? "0x%" PRIx64 : "(none)", address);
        return;
    }
    if (!module->looked)
        look_for_symbols(module, names->started);
    module->looked = true;
    uint64_t offset = address - module->begin + module->offset;
    const char *symbol = symbol_at(module, offset), *slash = strrchr(module->path, '/');
    if (symbol)
        put_symbol(out, symbol);
    else
        snprintf(out, NAME_SIZE, "%.100s+0x%" PRIx64, slash + 1, offset);
}

const char *names_find(struct names *names, uint64_t address)
{
    struct kept *kept = &names->kept[(address ^ address >> 6) % KEPT];
    if (kept->address != address || !kept->name[0]) {
        kept->address = address;
        look_up(names, address, kept->name);
    }
    return kept->name;
}
