/* SPDX-License-Identifier: MIT */
/* cgroup.c: /proc/self/cgroup tells where the process is in each hierarchy,
 * /proc/self/mountinfo where the hierarchies can be seen, and the files there what the
 * quota is. A hybrid machine has both versions mounted. Only one of them has the CPU
 * controller. Only the files show which, so both versions are read.
 *
 * Whatever can't be read or understood is no limit: a wrong small number would cost more
 * than a missing one. */
#include "os/cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINE_BYTES = 2 * PATH_MAX, /* longer ones are skipped: overlay mounts have such */
    VALUE_BYTES = 64,          /* two numbers of 20 digits fit */
};

#define UNLIMITED UINT_MAX

/* The limit that one directory sets. */
typedef unsigned limit_fn(const char *dir);

/* One hierarchy: that of version 2, or that of version 1 which has the CPU controller. */
struct hierarchy {
    limit_fn *limit;
    char path[PATH_MAX]; /* of the process's cgroup; empty: not in this hierarchy */
    bool seen;           /* a mount was found that shows this path */
    unsigned cpus;
};

struct mount {
    char *root; /* the path within the hierarchy that is visible at `point` */
    char *point;
    char *type;
    char *options;
};

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* ---- Files ---- */

static FILE *proc_open(const char *root, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/proc/self/%s", root, name);
    return length < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* The next line that fits, without its newline. */
static bool line_read(FILE *file, char line[LINE_BYTES])
{
    while (fgets(line, LINE_BYTES, file)) {
        size_t length = strcspn(line, "\n");
        if (line[length] == '\n' || feof(file)) {
            line[length] = '\0';
            return true;
        }
        for (int c = getc(file); c != '\n' && c != EOF;)
            c = getc(file);
    }
    return false;
}

/* The beginning of a small file; empty if there is none. */
static void value_read(const char *dir, const char *name, char value[VALUE_BYTES])
{
    char path[PATH_MAX];
    ssize_t length = -1;
    if (snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            length = read(fd, value, VALUE_BYTES - 1);
            close(fd);
        }
    }
    value[length > 0 ? length : 0] = '\0';
}

/* ---- Quotas ---- */

/* The number that *text begins with; moves *text past it. 0, which is neither a quota nor a period,
 * for anything else: "max", nothing, or too many digits. */
static long long number_take(const char **text)
{
    char *end;
    errno = 0;
    long long number = strtoll(*text, &end, 10);
    bool whole = end != *text && (*end == '\0' || isspace((unsigned char)*end));
    *text = end;
    return whole && errno == 0 ? number : 0;
}

/* Version 1 says -1 where there is no quota. */
static unsigned quota_cpus(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return UNLIMITED;
    long long cpus = quota / period + (quota % period != 0);
    return cpus < (long long)UNLIMITED ? (unsigned)cpus : UNLIMITED;
}

static unsigned limit_v1(const char *dir)
{
    char quota[VALUE_BYTES], period[VALUE_BYTES];
    value_read(dir, "cpu.cfs_quota_us", quota);
    value_read(dir, "cpu.cfs_period_us", period);
    const char *q = quota, *p = period;
    return quota_cpus(number_take(&q), number_take(&p));
}

static unsigned limit_v2(const char *dir)
{
    char value[VALUE_BYTES];
    value_read(dir, "cpu.max", value);
    const char *text = value;
    long long quota = number_take(&text);
    long long period = number_take(&text);
    return quota_cpus(quota, period);
}

/* ---- Hierarchies ---- */

static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (;;) {
        size_t item = strcspn(list, ",");
        if (item == length && strncmp(list, word, length) == 0)
            return true;
        if (list[item] == '\0')
            return false;
        list += item + 1;
    }
}

/* A line of /proc/self/cgroup: "4:cpu,cpuacct:/some/path", in version 2 "0::/some/path". */
static void membership_parse(char *line, struct hierarchy *v1, struct hierarchy *v2)
{
    const char *id = strsep(&line, ":");
    const char *controllers = strsep(&line, ":");
    const char *path = line; /* may have colons of its own */
    if (!path || path[0] != '/' || strlen(path) >= PATH_MAX)
        return;
    if (strcmp(id, "0") == 0 && controllers[0] == '\0')
        memcpy(v2->path, path, strlen(path) + 1);
    else if (list_has(controllers, "cpu"))
        memcpy(v1->path, path, strlen(path) + 1);
}

static void memberships_read(const char *root, struct hierarchy *v1, struct hierarchy *v2)
{
    FILE *file = proc_open(root, "cgroup");
    if (!file)
        return;
    char line[LINE_BYTES];
    while (line_read(file, line))
        membership_parse(line, v1, v2);
    fclose(file);
}

static bool path_has_dotdot(const char *path)
{
    for (; (path = strstr(path, "/..")) != NULL; path += 3) {
        if (path[3] == '/' || path[3] == '\0')
            return true;
    }
    return false;
}

/* The part of `path` below `root`, or NULL if it is elsewhere. Both count from the
 * root of the process's cgroup namespace, and begin with "/.." outside of it. */
static const char *path_below(const char *path, const char *root)
{
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(path, root, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return NULL;
    return path_has_dotdot(path + length) ? NULL : path + length;
}

/* The least limit from the directory `below` the mount point up to the mount point. */
static unsigned limit_climb(const char *root, const char *point, const char *below, limit_fn *limit)
{
    char dir[PATH_MAX];
    int base = snprintf(dir, sizeof dir, "%s%s", root, point);
    if (base >= (int)sizeof dir)
        return UNLIMITED;
    char *tail = dir + base;
    int room = (int)sizeof dir - base;
    if (snprintf(tail, (size_t)room, "%s", below) >= room)
        tail[0] = '\0'; /* no system call would take it either */
    unsigned cpus = limit(dir);
    for (char *slash; (slash = strrchr(tail, '/')) != NULL;) {
        *slash = '\0';
        cpus = least(cpus, limit(dir));
    }
    return cpus;
}

/* A mount that does not show the process's cgroup is only a guess, used if there is nothing better.
 * In a container it usually is the container's cgroup. */
static void hierarchy_look(struct hierarchy *h, const char *root, const struct mount *mount)
{
    if (h->path[0] == '\0')
        return;
    const char *below = path_below(h->path, mount->root);
    if (!below && h->seen)
        return;
    if (below && !h->seen) {
        h->seen = true;
        h->cpus = UNLIMITED; /* forget the guesses */
    }
    h->cpus = least(h->cpus, limit_climb(root, mount->point, below ? below : "", h->limit));
}

/* ---- Mounts ---- */

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Spaces, tabs, newlines and backslashes come as \040 and so on. */
static void escapes_decode(char *text)
{
    char *out = text;
    while (*text) {
        if (text[0] == '\\' && is_octal(text[1]) && is_octal(text[2]) && is_octal(text[3])) {
            *out++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
            text += 4;
        } else {
            *out++ = *text++;
        }
    }
    *out = '\0';
}

/* "36 35 0:31 ROOT POINT rw,noatime [optional fields] - TYPE source OPTIONS" */
static bool mount_parse(char *line, struct mount *mount)
{
    for (int i = 0; i < 3; i++)
        strsep(&line, " ");
    mount->root = strsep(&line, " ");
    mount->point = strsep(&line, " ");
    const char *field;
    do {
        field = strsep(&line, " ");
    } while (field && strcmp(field, "-") != 0);
    mount->type = strsep(&line, " ");
    strsep(&line, " ");
    mount->options = strsep(&line, " ");
    if (!mount->options)
        return false; /* a field is missing: from there on strsep gives NULL */
    escapes_decode(mount->root);
    escapes_decode(mount->point);
    return mount->root[0] == '/' && mount->point[0] == '/';
}

static void mounts_read(const char *root, struct hierarchy *v1, struct hierarchy *v2)
{
    FILE *file = proc_open(root, "mountinfo");
    if (!file)
        return;
    char line[LINE_BYTES];
    while (line_read(file, line)) {
        struct mount mount;
        if (!mount_parse(line, &mount))
            continue;
        if (strcmp(mount.type, "cgroup2") == 0)
            hierarchy_look(v2, root, &mount);
        else if (strcmp(mount.type, "cgroup") == 0 && list_has(mount.options, "cpu"))
            hierarchy_look(v1, root, &mount);
    }
    fclose(file);
}

unsigned weft__cgroup_cpus(const char *root)
{
    struct hierarchy v1 = {.limit = limit_v1, .cpus = UNLIMITED};
    struct hierarchy v2 = {.limit = limit_v2, .cpus = UNLIMITED};
    memberships_read(root, &v1, &v2);
    mounts_read(root, &v1, &v2);
    return least(v1.cpus, v2.cpus);
}
