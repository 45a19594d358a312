/* SPDX-License-Identifier: MIT */
/* health: villages in a tree, whose hospitals treat patients or refer them to the village above;
 * the shape of the program of that name in BOTS (Duran and others, ICPP 2009). In each of many
 * steps there is a child for each village: unbalanced, and of a fraction of a microsecond. */
#ifndef BENCH_HEALTH_H
#define BENCH_HEALTH_H

#include "../kernel.h"

#include <stddef.h>
#include <stdint.h>

enum { HEALTH_BRANCHES = 4, HEALTH_LEVELS = 5, HEALTH_PEOPLE = 16, HEALTH_STAFF = 3 };

struct patient {
    struct patient *next;
    unsigned time; /* steps that are left here */
};

struct village {
    struct village *parent, *children; /* HEALTH_BRANCHES of them, or NULL */
    struct patient *healthy, *waiting, *assessed, *inside, *referred;
    unsigned staff; /* that is free */
    uint64_t random, treated;
};

struct health {
    unsigned steps;
    size_t villages_n;
    struct village *villages; /* the first one is the root */
    struct patient *patients;
};

static inline struct patient *patient_take(struct patient **list)
{
    struct patient *patient = *list;
    *list = patient->next;
    return patient;
}

static inline void patient_put(struct patient **list, struct patient *patient, unsigned time)
{
    patient->next = *list;
    patient->time = time;
    *list = patient;
}

/* Moves those whose time is over from one list to another. Returns how many. */
static inline unsigned health_elapse(struct patient **from, struct patient **to)
{
    unsigned count = 0;
    while (*from) {
        if (--(*from)->time > 0) {
            from = &(*from)->next;
            continue;
        }
        patient_put(to, patient_take(from), 1);
        count++;
    }
    return count;
}

/* One step of a village alone. */
static inline void health_step(struct village *village)
{
    struct patient *decided = NULL, **link;
    unsigned cured = health_elapse(&village->inside, &village->healthy);
    village->treated += cured;
    village->staff += cured;
    health_elapse(&village->assessed, &decided);
    while (decided) {
        struct patient *patient = patient_take(&decided);
        unsigned chance = (unsigned)(kernel_random(&village->random) % 100);
        if (chance < 20) {
            patient_put(&village->inside, patient, 10);
            continue;
        }
        village->staff++;
        patient_put(chance < 35 && village->parent ? &village->referred : &village->healthy,
                    patient, 1);
    }
    while (village->waiting && village->staff > 0) {
        village->staff--;
        patient_put(&village->assessed, patient_take(&village->waiting), 3);
    }
    for (link = &village->healthy; *link;) {
        if (kernel_random(&village->random) % 32)
            link = &(*link)->next;
        else
            patient_put(&village->waiting, patient_take(link), 1);
    }
}

/* When the children are over: those that they refer come here. */
static inline void health_collect(struct village *village)
{
    for (int i = 0; i < HEALTH_BRANCHES; i++)
        while (village->children[i].referred)
            patient_put(&village->waiting, patient_take(&village->children[i].referred), 1);
}

#endif
