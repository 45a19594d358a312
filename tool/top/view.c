/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "view.h"

#include "list.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef WEFT_HAVE_NCURSES
#include <ncurses.h>

struct view {
    pid_t pid;           /* of the process that is shown; 0: the list of processes */
    struct watch *watch; /* of that */
    struct sample sample;
    bool good; /* there is a sample */
    struct list list;
    struct choice choice;
    size_t scroll, selected;
    bool paused, help, ends, changed;
    bool ended; /* the process is not there any more: what is shown stays */
    unsigned interval_ms;
    uint64_t due; /* in ms: when to look again */
    bool colours;
    char message[PAGE_WHY_SIZE];
};

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- Looking ---- */

static void leave_process(struct view *view)
{
    if (view->watch)
        watch_close(view->watch);
    if (view->good)
        sample_free(&view->sample);
    view->watch = NULL;
    view->pid = 0;
    view->good = view->ended = false;
    view->scroll = 0;
    view->choice.pool = -1;
    view->due = 0;
}

static void enter_process(struct view *view, pid_t pid)
{
    leave_process(view);
    view->pid = pid;
    view->message[0] = 0;
    view->watch = watch_open(pid, view->message);
    if (!view->watch)
        view->pid = 0;
}

static void look_at_process(struct view *view)
{
    struct sample sample;
    if (view->ended)
        return;
    if (!watch_look(view->watch, &sample, view->message)) {
        view->ended = true;
        return;
    }
    if (view->good)
        sample_free(&view->sample);
    view->sample = sample;
    view->good = true;
    if (view->choice.pool >= (int)sample.pool_count)
        view->choice.pool = -1;
}

static void look(struct view *view)
{
    uint64_t now = now_ms();
    if (view->paused || now < view->due)
        return;
    view->due = now + view->interval_ms;
    view->changed = true;
    if (view->pid)
        look_at_process(view);
    else if (!list_look(&view->list))
        snprintf(view->message, sizeof view->message, "there is no memory");
    if (!view->pid && view->selected >= view->list.count)
        view->selected = view->list.count ? view->list.count - 1 : 0;
}

/* ---- Drawing ---- */

static void prepare_colours(struct view *view)
{
    const char *none = getenv("NO_COLOR");
    view->colours = has_colors() && !(none && *none) && start_color() == OK;
    if (!view->colours)
        return;
    use_default_colors();
    init_pair(LOOK_GOOD, COLOR_GREEN, -1);
    init_pair(LOOK_BAD, COLOR_RED, -1);
    init_pair(LOOK_BUSY, COLOR_BLACK, COLOR_GREEN);
    init_pair(LOOK_SEARCHING, COLOR_BLACK, COLOR_YELLOW);
    init_pair(LOOK_ASLEEP, COLOR_WHITE, COLOR_BLUE);
    init_pair(LOOK_BLOCKED, COLOR_WHITE, COLOR_RED);
    init_pair(LOOK_OUTSIDE, COLOR_CYAN, -1);
}

static chtype attributes(const struct view *view, unsigned look)
{
    chtype colour = view->colours ? (chtype)COLOR_PAIR((int)look) : 0;
    switch (look) {
    case LOOK_TITLE:
        return A_BOLD;
    case LOOK_HEAD:
        return A_REVERSE;
    case LOOK_FAINT:
        return A_DIM;
    case LOOK_BAD:
        return colour | A_BOLD;
    case LOOK_PLAIN:
        return 0;
    default:
        return colour;
    }
}

static void draw_line(const struct view *view, int row, const struct line *line, bool marked)
{
    move(row, 0);
    for (size_t i = 0; line->text[i] && i < (size_t)COLS; i++)
        addch((chtype)(unsigned char)line->text[i] | attributes(view, line->look[i]) |
              (marked ? A_BOLD | A_UNDERLINE : 0));
    if (line->look[0] == LOOK_HEAD) /* to the end of the line */
        for (int i = (int)strlen(line->text); i < COLS; i++)
            addch(' ' | A_REVERSE);
}

static const char *const help_lines[] = {
    "weft top: what the threads of a running program do",
    "",
    "  q          quit",
    "  h, ?       this page; any key leaves it",
    "  arrows     scroll; in the list of processes: choose one, Enter shows it",
    "  PgUp PgDn  by a page; Home, End",
    "  b, Left    back to the list of processes",
    "  s          sort: place, busy, jobs, steals, wait, memory (of actors)",
    "  p          one pool only: the next one, or all",
    "  space      pause, and go on",
    "  + -        look more often, less often",
    "",
    "TIME is where the time went since the last look: # busy in a job,",
    "+ searching for work, . asleep, ! blocked, - outside the pool.",
    "SINCE: for how long it is in its state. RUNS of an actor: 100% is one thread.",
    "Nothing is stopped or changed in the program: it counts in a page of memory",
    "that its own user may read.",
};

static void draw_help(void)
{
    int count = (int)(sizeof help_lines / sizeof help_lines[0]);
    for (int i = 0; i < count && i < LINES; i++)
        mvaddnstr(i, 0, help_lines[i], COLS);
}

static void make_lines(const struct view *view, struct lines *lines)
{
    lines->width = COLS < 20 ? 20 : COLS > LINE_WIDEST ? LINE_WIDEST : (unsigned)COLS;
    if (!view->pid)
        lines_put_list(lines, view->list.all, view->list.count);
    else if (view->good)
        lines_put_sample(lines, &view->sample, view->choice);
}

/* The last line: what is going on, and the keys. */
static void draw_status(struct view *view, size_t hidden)
{
    char text[LINE_WIDEST];
    const char *pool =
        view->choice.pool >= 0 && view->good ? view->sample.pools[view->choice.pool].name : "all";
    if (view->message[0])
        snprintf(text, sizeof text, " %s", view->message);
    else if (!view->pid)
        snprintf(text, sizeof text, " %zu process%s using weft   Enter shows one   h help   q quit",
                 view->list.count, view->list.count == 1 ? "" : "es");
    else
        snprintf(text, sizeof text, " %s sort: %s   pool: %s   every %.1fs   h help   q quit",
                 view->paused ? "PAUSED " : "", order_names[view->choice.order], pool,
                 view->interval_ms / 1e3);
    if (hidden) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "   %zu more lines", hidden);
    }
    attrset(A_REVERSE);
    mvprintw(LINES - 1, 0, "%-*.*s", COLS, COLS, text);
    attrset(A_NORMAL);
}

/* The head of the list stays; the selected line is in sight. */
static void draw(struct view *view)
{
    struct lines lines = {0};
    size_t rows = LINES > 1 ? (size_t)LINES - 1 : 0;
    make_lines(view, &lines);
    if (!view->pid && view->selected + 1 >= view->scroll + rows && rows > 1)
        view->scroll = view->selected + 2 - rows;
    if (!view->pid && view->selected < view->scroll)
        view->scroll = view->selected;
    size_t most = lines.count > rows ? lines.count - rows : 0;
    if (view->scroll > most)
        view->scroll = most;
    erase();
    for (size_t row = 0; row < rows && view->scroll + row < lines.count; row++) {
        size_t i = view->scroll + row;
        bool marked = !view->pid && i == view->selected + 1;
        draw_line(view, (int)row, &lines.all[i], marked);
    }
    if (!view->pid && view->list.count == 0 && rows > 2)
        mvaddnstr(2, 2, "No process of this user uses weft now.", COLS - 2);
    if (view->help) {
        erase();
        draw_help();
    }
    draw_status(view, most - view->scroll);
    refresh();
    lines_free(&lines);
    view->changed = false;
}

/* ---- Keys ---- */

static void scroll_by(struct view *view, long lines)
{
    size_t *what = view->pid ? &view->scroll : &view->selected;
    if (lines < 0 && *what < (size_t)-lines)
        *what = 0;
    else
        *what += (size_t)lines;
    if (!view->pid && view->selected >= view->list.count)
        view->selected = view->list.count ? view->list.count - 1 : 0;
}

static void change_interval(struct view *view, bool shorter)
{
    enum { LEAST = 100, MOST = 60000 };
    unsigned next = shorter ? view->interval_ms / 2 : view->interval_ms * 2;
    view->interval_ms = next < LEAST ? LEAST : next > MOST ? MOST : next;
    view->due = 0;
}

static void move_key(struct view *view, int key)
{
    long page = LINES > 3 ? LINES - 2 : 1;
    switch (key) {
    case KEY_UP:
        scroll_by(view, -1);
        break;
    case KEY_DOWN:
        scroll_by(view, 1);
        break;
    case KEY_PPAGE:
        scroll_by(view, -page);
        break;
    case KEY_NPAGE:
        scroll_by(view, page);
        break;
    case KEY_HOME:
        scroll_by(view, -1000000);
        break;
    case KEY_END:
        scroll_by(view, 1000000);
        break;
    }
}

static void choose(struct view *view, int key)
{
    switch (key) {
    case 'q':
        view->ends = true;
        break;
    case 'h':
    case '?':
        view->help = true;
        break;
    case 's':
        view->choice.order = (view->choice.order + 1) % ORDERS;
        break;
    case 'p':
        if (view->good && ++view->choice.pool >= (int)view->sample.pool_count)
            view->choice.pool = -1;
        break;
    case ' ':
        view->paused = !view->paused;
        break;
    case '+':
    case '-':
        change_interval(view, key == '+');
        break;
    case 'b':
    case KEY_LEFT:
    case KEY_BACKSPACE:
        if (view->pid) {
            leave_process(view);
            view->message[0] = 0;
        }
        break;
    case '\n':
    case KEY_ENTER:
    case KEY_RIGHT:
        if (!view->pid && view->selected < view->list.count)
            enter_process(view, view->list.all[view->selected].pid);
        break;
    default:
        move_key(view, key);
    }
}

static void wait_for_key(struct view *view)
{
    uint64_t now = now_ms();
    timeout(view->paused || view->ended ? -1 : view->due > now ? (int)(view->due - now) : 0);
    int key = getch();
    if (key == ERR)
        return;
    view->changed = true;
    if (view->help && key != KEY_RESIZE)
        view->help = false;
    else
        choose(view, key);
}

int view_run(pid_t pid, unsigned interval_ms)
{
    struct view view = {.interval_ms = interval_ms, .choice.pool = -1};
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO)) {
        warnx("this is no terminal; try --once");
        return EXIT_FAILURE;
    }
    if (pid) {
        enter_process(&view, pid);
        if (!view.watch) {
            warnx("%s", view.message);
            return EXIT_FAILURE;
        }
    }
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (!screen) {
        const char *name = getenv("TERM");
        warnx("the terminal '%s' can't show this; try --once", name ? name : "");
        return EXIT_FAILURE;
    }
    set_term(screen);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    set_escdelay(25);
    prepare_colours(&view);
    while (!view.ends) {
        look(&view);
        if (view.changed)
            draw(&view);
        wait_for_key(&view);
    }
    endwin();
    delscreen(screen);
    leave_process(&view);
    list_free(&view.list);
    return EXIT_SUCCESS;
}

#else

int view_run(pid_t pid, unsigned interval_ms)
{
    (void)pid, (void)interval_ms;
    warnx("built without ncurses (Debian: libncurses-dev); try --once");
    return EXIT_FAILURE;
}

#endif
