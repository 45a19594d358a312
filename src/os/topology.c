/* SPDX-License-Identifier: MIT */
/* topology.c: the affinity mask says which CPUs there are. Which of them share a core is
 * asked from hwloc, if the library was built with it, or else from /sys. hwloc also puts
 * cores that share caches side by side. If neither can be read, no CPUs share a core, and
 * they are in the order of their numbers. */
#include "os/topology.h"

#include "os/cgroup.h"
#include "os/launcher.h"
#include "os/memory.h"
#include "weft.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef WEFT_HAVE_HWLOC
#include <hwloc.h>
#if HWLOC_API_VERSION < 0x00020100 /* has no way to leave components out */
#undef WEFT_HAVE_HWLOC
#endif
#endif

enum {
    CPUS_CACHED = 8192,       /* no kernel is built for more */
    MASK_BYTES_MAX = 1 << 20, /* where asking with ever larger masks ends */
};

/* ---- Cores ---- */

/* The core of each CPU, plus 1; 0: unknown. Finding out takes milliseconds: it is done
 * once in a process, and only if the order matters. Written under cores_once only. */
static uint16_t cores[CPUS_CACHED];
static pthread_once_t cores_once = PTHREAD_ONCE_INIT;

static void core_set(unsigned cpu, unsigned core)
{
    if (cpu < CPUS_CACHED && core < CPUS_CACHED)
        cores[cpu] = (uint16_t)(core + 1);
}

#ifdef WEFT_HAVE_HWLOC
static bool hwloc_usable(hwloc_topology_t topology)
{
    /* The x86 component moves the calling thread from CPU to CPU; Linux knows as much. The
     * affinity mask may grow later, so CPUs outside of it are of interest too. An
     * environment variable can make hwloc describe another machine. */
    return hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                         "x86") == 0 &&
           hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
           hwloc_topology_load(topology) == 0 && hwloc_topology_is_thissystem(topology) &&
           hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
}

static bool cores_from_hwloc(void)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return false;
    bool usable = hwloc_usable(topology);
    hwloc_obj_t pu = NULL;
    while (usable && (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != NULL) {
        hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
        if (core)
            core_set(pu->os_index, core->logical_index);
    }
    hwloc_topology_destroy(topology);
    return usable;
}
#else
static bool cores_from_hwloc(void)
{
    return false;
}
#endif

/* The first number of a list like "3,67" or "6-7": the smallest, as they are sorted. */
static int list_first(const char *path)
{
    char list[32];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, list, sizeof list - 1);
    close(fd);
    list[length > 0 ? length : 0] = '\0';
    char *end;
    errno = 0;
    long first = strtol(list, &end, 10);
    return end != list && errno == 0 && first >= 0 && first <= INT_MAX ? (int)first : -1;
}

int weft__core_read(const char *root, int cpu)
{
    /* Kernels before 5.2 know the second name only. */
    static const char *const names[] = {"core_cpus_list", "thread_siblings_list"};
    int core = -1;
    for (int i = 0; i < 2 && core < 0; i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/topology/%s", root, cpu,
                     names[i]) < (int)sizeof path)
            core = list_first(path);
    }
    return core;
}

static void cores_from_sys(void)
{
    long count = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < count && cpu < CPUS_CACHED; cpu++) {
        int core = weft__core_read("", cpu);
        if (core >= 0)
            core_set((unsigned)cpu, (unsigned)core);
    }
}

static void cores_find(void)
{
    if (!cores_from_hwloc())
        cores_from_sys();
}

/* A CPU that nothing is known of has a core to itself, after all others. */
static int core_of(int cpu)
{
    return cpu < CPUS_CACHED && cores[cpu] ? cores[cpu] - 1 : CPUS_CACHED + cpu;
}

/* ---- Order ---- */

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_core(const void *a, const void *b)
{
    const struct weft__cpu *x = a, *y = b;
    int core = compare(x->core, y->core);
    return core ? core : compare(x->id, y->id);
}

static int by_thread(const void *a, const void *b)
{
    const struct weft__cpu *x = a, *y = b;
    int thread = compare(x->thread, y->thread);
    return thread ? thread : by_core(a, b);
}

void weft__cpus_order(struct weft__cpu *cpus, unsigned count)
{
    qsort(cpus, count, sizeof *cpus, by_core);
    for (unsigned i = 0; i < count; i++) {
        bool same = i > 0 && cpus[i].core == cpus[i - 1].core;
        cpus[i].thread = same ? cpus[i - 1].thread + 1 : 0;
    }
    qsort(cpus, count, sizeof *cpus, by_thread);
}

static int ids_order(int *ids, unsigned count)
{
    struct weft__cpu *cpus = weft__alloc(count * sizeof *cpus);
    if (!cpus)
        return -ENOMEM;
    pthread_once(&cores_once, cores_find);
    for (unsigned i = 0; i < count; i++)
        cpus[i] = (struct weft__cpu){.id = ids[i], .core = core_of(ids[i])};
    weft__cpus_order(cpus, count);
    for (unsigned i = 0; i < count; i++)
        ids[i] = cpus[i].id;
    weft__free(cpus);
    return 0;
}

/* ---- The affinity mask ---- */

struct mask {
    size_t size; /* in bytes */
    cpu_set_t *set;
};

/* The mask of a process; 0: of the calling thread. The kernel refuses masks smaller than its own
 * and does not say how large that is. -ENOMEM, or why the mask can't be read. */
static int mask_read(struct mask *mask, pid_t process)
{
    for (mask->size = sizeof(cpu_set_t); mask->size <= MASK_BYTES_MAX; mask->size *= 2) {
        mask->set = weft__alloc(mask->size);
        if (!mask->set)
            return -ENOMEM;
        if (sched_getaffinity(process, mask->size, mask->set) == 0)
            return 0;
        int error = errno;
        weft__free(mask->set);
        if (error != EINVAL)
            return -error;
    }
    return -EINVAL;
}

/* Where a sandbox forbids to read the mask: as if it was full. */
static int mask_guess(struct mask *mask)
{
    mask->size = CPUS_CACHED / CHAR_BIT;
    mask->set = weft__alloc(mask->size);
    if (!mask->set)
        return -ENOMEM;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_SET_S(0, mask->size, mask->set);
    for (int cpu = 1; cpu < online && cpu < CPUS_CACHED; cpu++)
        CPU_SET_S((size_t)cpu, mask->size, mask->set);
    return 0;
}

/* Never empty. 0 or -ENOMEM. */
static int mask_get(struct mask *mask)
{
    int error = mask_read(mask, 0);
    if (error == 0 && CPU_COUNT_S(mask->size, mask->set) > 0)
        return 0;
    if (error == -ENOMEM)
        return error;
    if (error == 0)
        weft__free(mask->set);
    return mask_guess(mask);
}

int weft__cpus_allowed(struct weft__cpus *cpus)
{
    *cpus = (struct weft__cpus){0};
    struct mask mask;
    int error = mask_get(&mask);
    if (error)
        return error;
    unsigned count = (unsigned)CPU_COUNT_S(mask.size, mask.set);
    cpus->ids = weft__alloc(count * sizeof *cpus->ids);
    error = cpus->ids ? 0 : -ENOMEM;
    for (size_t cpu = 0; !error && cpus->count < count; cpu++) {
        if (CPU_ISSET_S(cpu, mask.size, mask.set))
            cpus->ids[cpus->count++] = (int)cpu;
    }
    weft__free(mask.set);
    if (!error && count > 2)
        error = ids_order(cpus->ids, count);
    if (error)
        weft__cpus_free(cpus);
    return error;
}

void weft__cpus_free(struct weft__cpus *cpus)
{
    weft__free(cpus->ids);
    *cpus = (struct weft__cpus){0};
}

/* CPUs of the parent; 0: unknown. */
static unsigned cpus_of_parent(void)
{
    struct mask mask;
    if (mask_read(&mask, getppid()))
        return 0;
    unsigned count = (unsigned)CPU_COUNT_S(mask.size, mask.set);
    weft__free(mask.set);
    return count;
}

/* All processes of a launcher are taken to have the same quota together. */
static unsigned share_of(unsigned count, unsigned quota)
{
    struct weft__launcher launcher;
    if (!weft__launcher_get(&launcher) || launcher.size == 1)
        return count;
    unsigned all = cpus_of_parent();
    if (all < count)
        all = count;
    if (all > quota)
        all = quota;
    return weft__launcher_share(&launcher, count, all);
}

unsigned weft__workers_auto(void)
{
    unsigned count = 1; /* also where there is no memory for a mask */
    struct mask mask;
    if (mask_get(&mask) == 0) {
        count = (unsigned)CPU_COUNT_S(mask.size, mask.set);
        weft__free(mask.set);
    }
    unsigned quota = weft__cgroup_cpus("");
    if (count > quota)
        count = quota;
    count = share_of(count, quota);
    return count < WEFT_WORKERS_MAX ? count : WEFT_WORKERS_MAX;
}
