/* SPDX-License-Identifier: MIT */
#include "trail.h"

#include "execution.h"
#include "schedule.h"

struct trail trail;
static unsigned data_choices; /* in this step */

void trail_forget(void)
{
    trail.length = trail.position = trail.resumed = 0;
    trail.misfits = trail.replays = false;
}

void trail_rewind(void)
{
    trail.position = data_choices = 0;
}

void trail_step(void)
{
    data_choices = 0;
}

bool trail_next(void)
{
    trail.resumed = 0;
    for (trail.length = trail.position; trail.length > 0; trail.length--) {
        struct choice *last = &trail.choice[trail.length - 1];
        if (last->chosen + 1 < last->count) {
            last->chosen++;
            return true;
        }
    }
    return false;
}

/* ---- Choices ---- */

struct choice *trail_choice(unsigned n, char kind)
{
    if (trail.position == CHOICES_MAX)
        model_fail("more than %d choices", CHOICES_MAX);
    if (trail.position == trail.length)
        trail.choice[trail.length++] = (struct choice){.count = n, .asleep = now.asleep};
    struct choice *choice = &trail.choice[trail.position++];
    if (trail.position <= trail.resumed && (choice->step != now.steps || choice->kind != kind)) {
        trail.misfits = true;
        schedule_end(KNOWN);
    }
    choice->step = now.steps;
    choice->kind = kind;
    choice->value = choice->chosen;
    choice->usual = choice->chosen == 0;
    return choice;
}

int trail_told(char kind)
{
    for (unsigned i = 0; i < trail.length; i++)
        if (trail.choice[i].step == now.steps && trail.choice[i].kind == kind)
            return (int)trail.choice[i].value;
    return -1;
}

unsigned trail_choose(unsigned n)
{
    if (n < 2)
        return 0;
    char kind = (char)(DATA + data_choices++);
    if (!trail.replays)
        return trail_choice(n, kind)->chosen;
    int value = trail_told(kind);
    return value >= 0 && (unsigned)value < n ? (unsigned)value : 0;
}

/* ---- As text ---- */

void trail_write(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < trail.position && used + 12 < size; i++) {
        const struct choice *choice = &trail.choice[i];
        if (!choice->usual)
            used += (size_t)snprintf(text + used, size - used, used ? ",%u%c%u" : "%u%c%u",
                                     choice->step, choice->kind, choice->value);
    }
}

void trail_read(const char *text)
{
    int length = 0;
    trail_forget();
    trail.replays = true;
    for (struct choice choice = {0}; trail.length < CHOICES_MAX; text += length) {
        if (sscanf(text, "%u%c%u%n", &choice.step, &choice.kind, &choice.value, &length) != 3)
            break;
        trail.choice[trail.length++] = choice;
        length += text[length] == ',';
    }
}
