# SPDX-License-Identifier: MIT
"""What gdb knows of weft: the commands `weft workers`, `weft bt`, `weft actors` and `weft why`.

gdb loads this by itself for a shared library that is installed in /usr; `source weft-gdb.py` does it
by hand (weft_gdb(7)). Everything is read from memory: no function of the program is called, and
nothing is written. So a core file will do, and so will a program that hangs.

The threads stand still, so more can be followed here than in weft_pool_dump(), which reads a pool
that goes on. The words are those of src/core/dump.c, standing.c and src/actor/dump.c. The names of
structures and members are those of the sources, and belong to one version of the library."""

import bisect
import functools
import itertools

import gdb
import gdb.unwinder

VERSION = "0.2.0"


KEPT = []


def kept(function):
    """Its results are kept for as long as a command runs: the program stands still."""
    KEPT.append(functools.lru_cache(maxsize=None)(function))
    return KEPT[-1]


# ---- Values ----


def address_type(name):
    return gdb.lookup_type(name).pointer()


def at(address, name):
    """What lies at the address, which is a number or a pointer."""
    return gdb.Value(int(address)).cast(address_type(name)).dereference()


def atomic(value):
    """The number in a struct atomic_*; of a pointer: the address."""
    return int(value["value"])


@kept
def enum(name):
    """The values of an enum by their names."""
    return {field.name: field.enumval for field in gdb.lookup_type("enum " + name).fields()}


def text(address):
    """A C string; "" if there is none."""
    if not int(address):
        return ""
    return gdb.Value(int(address)).cast(address_type("char")).string(errors="replace")


@kept
def function_name(address):
    """As the library writes it: the name, or the address if there is none."""
    block = gdb.block_for_pc(address)
    while block and not block.function:
        block = block.superblock
    if block:
        return block.function.print_name
    found = gdb.execute("info symbol %#x" % address, to_string=True)
    return "%#x" % address if found.startswith("No symbol") else found.split()[0]


def linked(first, link):
    """A list in memory: `first` and what link() of each leads to; the last has a null pointer."""
    while int(first):
        yield first
        first = link(first)


def plural(count, what):
    return "%d %s%s" % (count, what, "" if count == 1 else "s")


# ---- The library ----


def roster():
    """The list of pools; or an error that says why it can't be had."""
    if gdb.selected_inferior().pid == 0:
        raise gdb.GdbError("weft: the program does not run, and there is no core file")
    symbol = gdb.lookup_global_symbol("weft__roster")
    if symbol is None:
        try:
            gdb.parse_and_eval("(char *)&weft_run")
        except gdb.error:
            raise gdb.GdbError("weft: this program does not use weft, or has not loaded it yet")
        raise gdb.GdbError("weft: the library has no debug information, or is older than this script"
                           " (" + VERSION + "): install it (Debian: libweft0.2-dbgsym), or compile"
                           " weft with -g")
    value = symbol.value()
    number = int(value["version"])
    version = "%d.%d.%d" % (number // 10000, number // 100 % 100, number % 100)
    if version != VERSION:
        raise gdb.GdbError("weft: the library is of version " + version + ", and this script is for "
                           + VERSION)
    return value


FOLDERS = ("os", "sleep", "core", "sync", "parallel", "actor")  # of src/


def is_library(pc, symtab):
    """Is it code of the library? libweft.so is known by its addresses; what is part of a program or a
    plugin by its sources, which lie together, or are one file."""
    own = gdb.lookup_global_symbol("weft__roster")
    shared = gdb.solib_name(int(own.value().address)) or ""
    if "/libweft.so" in shared:
        return gdb.solib_name(pc) == shared
    if not symtab:
        return False
    source, is_tree, _ = own.symtab.filename.rpartition("os/roster.c")
    if not is_tree:
        return symtab.filename == own.symtab.filename
    return symtab.filename.startswith(tuple(source + folder + "/" for folder in FOLDERS))


@kept
def pools():
    """The oldest first."""
    offset = next(f.bitpos // 8 for f in gdb.lookup_type("struct weft_pool").fields()
                  if f.name == "listed")
    entries = linked(roster()["first"], lambda e: e["next"])
    return [Pool(int(entry) - offset) for entry in entries][::-1]


@kept
def threads():
    """gdb's threads by the kernel's numbers."""
    return {thread.ptid[1]: thread for thread in gdb.selected_inferior().threads()}


@kept
def stack_pointers():
    """Of each thread."""
    found = []
    for thread in threads().values():
        with Selected(thread):
            found.append((thread, int(gdb.newest_frame().read_register("sp"))))
    return found


class Thing:
    """Something in memory that has an address and is the same as another with that address."""

    def __init__(self, address):
        self.address = int(address)
        self.value = at(address, self.type)

    def __eq__(self, other):
        return isinstance(other, Thing) and (self.type, self.address) == (other.type, other.address)

    def __hash__(self):
        return self.address


class Pool(Thing):
    type = "struct weft_pool"

    @property
    def name(self):
        return 'pool "%s"' % text(self.value["config"]["name"])

    def workers(self):
        """Its workers, then its guests and spares, by their numbers."""
        count = int(self.value["config"]["workers"])
        workers = [Worker(self.value["workers"][i]) for i in range(count)]
        guests = linked(atomic(self.value["guests"]["present"]),
                        lambda g: atomic(at(g, Worker.type)["next_guest"]))
        return workers + sorted((Worker(g) for g in guests), key=lambda w: w.index)

    def actors(self):
        system = atomic(self.value["actors"])
        if not system:
            return []
        first = at(system, "struct weft__actors")["actors"]
        return [Actor(actor) for actor in linked(first, lambda a: a["next"])]

    def queued_tasks(self):
        for node in linked(self.value["injector"]["first"], lambda n: n["next"]):
            execute = function_name(int(node["job"]["execute"]))
            if execute in ("execute_task", "execute_full"):
                yield Task(node)

    def headline(self):
        pending = atomic(self.value["pending"])
        closed = 1 << 31
        states = [worker.state() for worker in self.workers()]
        return 'weft %s: %d workers, %d asleep, %d guests and spares, %d queued, %d pending%s' % (
            self.name, int(self.value["config"]["workers"]), states.count("asleep"),
            len(states) - int(self.value["config"]["workers"]),
            atomic(self.value["injector"]["length"]), pending & ~closed,
            ", closing" if pending & closed else "")


@kept
def all_workers():
    return [worker for pool in pools() for worker in pool.workers()]


@kept
def all_actors():
    return [actor for pool in pools() for actor in pool.actors()]


# ---- Waits ----


class Wait:
    """Why somebody does not move: in words, and the workers and actors that have to go on first. If
    there are none, `end` says what that means."""

    def __init__(self, words, whom=(), end=""):
        self.words = words
        self.whom = list(whom)
        self.end = end


MUTEX_FLAGS, MUTEX_OUTSIDE = 7, 8  # as in src/core/object.h


def name_of_thread(serial):
    return serial * (2 * MUTEX_OUTSIDE) | MUTEX_OUTSIDE


def holder_of(owned, waiter):
    """Who holds a mutex, a read-write lock to write, or a once: words, and the holder or None."""
    name = atomic(owned["word"]) & ~MUTEX_FLAGS
    if name == 0:
        return ", which is handed over just now", None
    for worker in all_workers():
        outside = name_of_thread(atomic(worker.value["visitor"]))
        if name in (worker.address, outside):
            return ", held by %s%s%s" % (
                worker.name, ", which is itself" if worker == waiter else "",
                ", since before it came in" if name == outside else ""), worker
    for actor in all_actors():
        if name == (actor.fiber_address() | MUTEX_OUTSIDE):
            return ", held by %s%s" % (actor.name, ", which is itself" if actor == waiter else ""), actor
    if name > name_of_thread(2 ** 32 - 1):
        return ", held by an actor" if name & MUTEX_OUTSIDE else ", held by a thread of another pool", None
    outsider = Outsider((name - MUTEX_OUTSIDE) // (2 * MUTEX_OUTSIDE))
    task = outsider.task()
    return ", held by %s%s" % (outsider.name, ", which waits for a task" if task else ""), outsider


def object_wait(blocked, waiter):
    """A wait for a mutex, an event, a channel and so on."""
    kinds = enum("blocked_kind")
    kind, address = int(blocked["kind"]), int(blocked["object"])
    words = text(gdb.lookup_global_symbol("weft__blocked_kinds").value()[kind])
    if kind == kinds["BLOCKED_OUTSIDE"]:
        return Wait(words, end="it goes on when its own code does")
    name = text(at(address, "struct weft__sync")["name"])
    words += " '%s'" % name if name else " %#x" % address
    more = sum(1 for _ in linked(blocked["more"], lambda b: b["more"]))
    words += " and %d more" % more if more else ""
    limited = ", for a limited time" if int(blocked["limit"]) and not never_ends(blocked["limit"]) else ""
    one_has_it = [kinds["BLOCKED_" + k] for k in ("MUTEX", "READ", "WRITE", "ONCE")]
    owned = at(address, "struct weft__owned")
    if kind == kinds["BLOCKED_MUTEX"] or kind in one_has_it and atomic(owned["word"]) & ~MUTEX_FLAGS:
        held_by, holder = holder_of(owned, waiter)
        return Wait(words + held_by + limited, [holder] if holder else [],
                    "who holds it is not known here")
    if kind == kinds["BLOCKED_WRITE"]:
        readers = atomic(at(address, "struct weft__rwlock")["readers"])
        return Wait(words + (", held by readers: %d" % readers if readers else "") + limited,
                    end="readers are counted, and not noted by name")
    return Wait(words + limited, end="any thread or actor that uses it may end this wait")


def never_ends(limit):
    forever = 2 ** 64 - 1
    return int(limit["when"]) == forever and not int(limit["group"])


# ---- Workers ----


class Worker(Thing):
    """A thread of a pool: a worker, a guest, a spare."""

    type = "struct weft__worker"
    kinds = {"WORKER_THREAD": "worker", "WORKER_CALLER": "caller", "WORKER_GUEST": "guest",
             "WORKER_SPARE": "spare"}

    @property
    def index(self):
        return int(self.value["index"])

    @property
    def name(self):
        kind = next(n for n, v in enum("worker_kind").items() if v == int(self.value["kind"]))
        name = "%s %d" % (self.kinds[kind], self.index)
        return name if len(pools()) == 1 else "%s of %s" % (name, Pool(self.value["pool"]).name)

    def count(self, name):
        return atomic(self.value["counts"][name])

    def thread(self):
        """gdb's thread, or None."""
        return threads().get(self.count("thread")) or self.thread_by_stack()

    def thread_by_stack(self):
        """In another pid namespace than gdb's, its thread has another number."""
        low, high = (int(self.value["stack"][end]) for end in ("low", "high"))
        fiber = int(self.value["fiber"])
        return next((thread for thread, sp in stack_pointers() if low <= sp < high or
                     fiber and fiber <= sp < fiber + block_size()), None)

    @property
    def short_name(self):
        return self.name.partition(" of ")[0]

    def title(self):
        thread = self.thread()
        return "%s (thread %s)" % (self.name, thread.num if thread else "unknown")

    def awaited(self):
        """The wait that it sleeps in; None: it runs, or searches for work."""
        searches = self.count("state") == enum("worker_state")["WORKER_SEARCHING"]
        return self.value["awaited"] if searches and int(self.value["awaited"]) else None

    def state(self):
        states = enum("worker_state")
        state = self.count("state")
        if self.is_blocked() or state == states["WORKER_BLOCKED"]:
            return "blocked"
        if self.awaited():
            return "waiting"
        park = self.value["own_park"]
        asleep = atomic(park["state"]) & 7 == enum("park_state")["PARK_ASLEEP"]
        if state == states["WORKER_SEARCHING"] and (asleep or atomic(park["in_crowd"])):
            return "asleep"
        return next(n for n, v in states.items() if v == state)[len("WORKER_"):].lower()

    def is_blocked(self):
        return int(self.value["blocked"]) and atomic(self.value["rests"]) == 1

    def records(self):
        """The jobs on its stack, the innermost first."""
        return [Record(f, self) for f in linked(self.value["frame"], lambda f: f["outer"])]

    def runs_child(self, scope):
        return any(inside(record.group, scope) for record in self.records())

    def actor(self):
        """The actor that its thread runs now, or None."""
        fiber = int(self.value["fiber"])
        return Actor(at(fiber, "struct weft__fiber")["actor"]) if fiber else None

    def runs(self):
        """What it runs, in the words of the dump; "" if it runs nothing."""
        depth, fn, executor = self.count("depth"), self.count("fn"), self.count("executor")
        if not depth:
            return ""
        what = [function_name(fn)] if fn else []
        what += ["actors of executor %d" % (executor - 1)] if executor else []
        now = ", now %s" % self.actor().name if self.actor() else ""
        on_top = " on top of %s" % plural(depth - 1, "more job") if depth > 1 else ""
        return "runs " + (", or ".join(what) or "a job of the library's own") + now + on_top

    def forks(self):
        """How many forks are not merged; and how many of them no other thread has been told of."""
        context = self.value["context"]
        oldest = atomic(context["oldest"])
        size = gdb.lookup_type("struct weft__slot").sizeof
        forks = pending = 0
        for slot in range(int(context["first"]), int(context["last"]) + 1, size):
            if not atomic(at(slot, "struct weft__slot")["fn"]):
                break
            forks += 1
            pending += not context["eager"] and slot >= oldest
        return forks, pending

    def wait(self):
        if self.is_blocked():
            return object_wait(self.value["blocked"], self)
        awaited = self.awaited()
        if awaited:
            return self.latch_wait(awaited, text(awaited["what"]))
        if self.state() == "blocked":
            return Wait("is on its way into a wait or out of it", end="it moves")
        runs = self.runs()
        return Wait("is %s%s" % (self.state(), "; " + runs if runs else ""), end=(
            "it waits for nobody; `weft bt` shows where it is" if self.state() == "busy" else
            "it waits for nobody: it has nothing to do"))

    def latch_wait(self, awaited, words):
        if int(awaited["thief"]):
            thief = atomic(awaited["thief"])
            words += " that %s took from it" % Worker(thief).name if thief else ""
            return Wait(words, [Worker(thief)] if thief else [], "no thread has begun it")
        if int(awaited["scope"]):
            on = [w for w in all_workers() if w != self and w.runs_child(int(awaited["scope"]))]
            return Wait(words + "".join(", on " + w.name for w in on), on,
                        "no thread runs a child of it; the children that are left are queued")
        task = awaited_task(int(self.value["park"]))
        return task.wait(words) if task else Wait(words, end="who ends that wait is not noted")


def inside(group, scope):
    return any(int(g) == scope for g in linked(group, lambda g: g["parent"]))


class Record:
    """A job on the stack of a worker: struct weft__frame. `address`: in the frame of the function of
    the library that runs it."""

    def __init__(self, frame, worker):
        self.worker = worker
        self.address = int(frame["address"])
        self.w, self.slot, self.victim = int(frame["w"]), int(frame["slot"]), int(frame["from"])
        self.task, self.fn, self.group = int(frame["task"]), int(frame["fn"]), frame["group"]


class Task(Thing):
    type = "struct weft__task"

    def worker(self):
        """The worker that runs it, or None."""
        return next((w for w in all_workers() if any(r.task == self.address for r in w.records())), None)

    def waits_here(self, park):
        """Does the job that sleeps at this parking place wait for the task?"""
        latch, over = atomic(self.value["waiter"]), gdb.lookup_global_symbol("weft__task_over").value()
        return latch not in (0, int(over.address)) and int(at(latch, "struct weft__spin_latch")["owner"]) == park

    def outsiders(self):
        return [int(at(o, "struct weft__outsider")["thread"]) for o in
                linked(gdb.Value(atomic(self.value["outsiders"])).cast(
                    address_type("struct weft__outsider")), lambda o: o["next"])]

    def wait(self, words):
        worker = self.worker()
        words += " (%s)" % function_name(int(self.value["node"]["job"]["fn"]))
        return Wait(words + (", which %s runs" % worker.name if worker else ", which is queued"),
                    [worker] if worker else [], "no thread has begun the task")


def all_tasks():
    """All tasks that are queued, or have begun and are not over."""
    for pool in pools():
        yield from pool.queued_tasks()
        for worker in pool.workers():
            yield from (Task(r.task) for r in worker.records() if r.task)


def awaited_task(park):
    return next((task for task in all_tasks() if task.waits_here(park)), None)


class Outsider:
    """A thread outside all pools, by the number that the library gave it."""

    def __init__(self, serial):
        self.serial = serial

    def __eq__(self, other):
        return isinstance(other, Outsider) and self.serial == other.serial

    @property
    def name(self):
        return "a thread outside the pool"

    def title(self):
        thread = thread_with("weft__thread_serial::number", self.serial)
        return self.name + (" (thread %d)" % thread.num if thread else "")

    def task(self):
        return next((task for task in all_tasks() if self.serial in task.outsiders()), None)

    def wait(self):
        task = self.task()
        if task:
            return task.wait("waits for a task")
        return Wait("does something of its own", end="what that is, weft does not know; see its back trace")


def thread_with(variable, value):
    """The thread whose thread-local variable has that value; None: not known. gdb needs libthread_db
    for that, which is not always there."""
    for thread in gdb.selected_inferior().threads():
        with Selected(thread):
            try:
                if int(gdb.parse_and_eval(variable)) == value:
                    return thread
            except gdb.error:
                return None
    return None


# ---- Actors ----


class Actor(Thing):
    type = "struct weft_actor"
    states = {"NEW": "not started", "RUNNABLE": "can run", "RUNNING": "is running",
              "WAITING": "waits", "OVER": "is over"}

    @property
    def short_name(self):
        return self.value["name"].string(errors="replace")

    @property
    def name(self):
        return "actor '%s'" % self.short_name

    def title(self):
        return self.name

    def fiber_address(self):
        return atomic(self.value["fiber"])

    def fiber(self):
        """Its own stack; None: it has not begun, or is over."""
        address = self.fiber_address()
        return at(address, "struct weft__fiber") if address and self.state() != "OVER" else None

    def state(self):
        if atomic(self.value["state"]) == enum("actor_state")["ACTOR_OVER"]:
            return "OVER"
        activity = atomic(self.value["counts"]["activity"])
        state = next(n for n, v in enum("weft_actor_state").items() if v == activity)
        state = state[len("WEFT_ACTOR_"):]
        return "RUNNING" if state == "RUNNABLE" and self.runner() else state

    def runner(self):
        """The worker whose thread runs it now, or None."""
        address = self.fiber_address()
        return next((w for w in all_workers() if address and int(w.value["fiber"]) == address), None)

    def noted_wait(self):
        """What it noted last, in static words, and the name of the object."""
        counts = self.value["counts"]
        words = [counts["waits_name"][i] for i in range(3)]
        name = b"".join(atomic(word).to_bytes(8, "little") for word in words).split(b"\0")[0]
        return text(atomic(counts["waits_for"])) + (" '%s'" % name.decode(errors="replace") if name else "")

    def wait(self):
        state = self.state()
        if state != "WAITING":
            runner = self.runner()
            return Wait(self.states[state] + (" on " + runner.title() if runner else ""),
                        end="it is over" if state == "OVER" else "it can go on")
        awaits, blocked = atomic(self.value["awaits"]["actor"]), self.value["awaits"]["blocked"]
        words = self.noted_wait() or "waits"
        if awaits:
            return Wait("%s, '%s'" % (words, Actor(awaits).short_name), [Actor(awaits)])
        if int(blocked):
            return object_wait(blocked, self)
        task = awaited_task(int(self.fiber()["park"].address))
        if task:
            return task.wait(words)
        if atomic(self.value["root"]["pending"]):
            on = self.helpers()
            return Wait(words + "".join(", on " + w.name for w in on), on,
                        "that has begun, or waits for its turn, on another executor")
        return Wait(words, end="any thread or actor that uses it may end this wait")

    def helpers(self):
        """The workers that run right sides of it now, and not the actor itself."""
        return [w for w in all_workers() if w.actor() == self
                and int(w.value["fiber"]) != self.fiber_address()]

    def line(self):
        wait = self.wait()
        return "%s: %s; runs %s; executor %d, messages %d" % (
            self.name, wait.words, function_name(int(self.value["fn"])),
            atomic(self.value["counts"]["executor"]), int(self.value["count"]))


# ---- Stacks as gdb sees them ----


class Selected:
    """Another thread is selected for a while, or the same one; then thread and frame as before."""

    def __init__(self, thread):
        self.thread = thread

    def __enter__(self):
        self.before = gdb.selected_thread()
        self.level = gdb.selected_frame().level() if self.before else 0
        if self.thread:
            self.thread.switch()

    def __exit__(self, *_):
        if not self.before:
            return
        self.before.switch()
        frame = gdb.newest_frame()
        while frame.level() < self.level and frame.older():
            frame = frame.older()
        frame.select()


class StrandUnwinder(gdb.unwinder.Unwinder):
    """Lets gdb see a stack that no thread is on: the frame on top of the selected thread seems to
    return into it. The registers are where weft__strand_swap saves them (src/os/strand_*.S)."""

    saved = {
        "i386:x86-64": ("rip", "rsp", 64, {"r15": 8, "r14": 16, "r13": 24, "r12": 32, "rbx": 40,
                                           "rbp": 48, "rip": 56}),
        "aarch64": ("pc", "sp", 176, {"pc": 88, **{"x%d" % (19 + i): 8 * i for i in range(12)}}),
    }

    def __init__(self):
        super().__init__("weft strands")
        self.enabled = False
        self.sp = None

    def __call__(self, pending):
        layout = self.saved.get(pending.architecture().name())
        if self.sp is None or pending.level() != 0 or not layout:
            return None
        pc, sp, size, offsets = layout
        word = address_type("long")
        frame_id = FrameId(gdb.Value(self.sp), pending.read_register(pc))
        info = pending.create_unwind_info(frame_id)
        for register, offset in offsets.items():
            value = gdb.Value(self.sp + offset).cast(word).dereference()
            info.add_saved_register(register, value.cast(pending.read_register(register).type))
        info.add_saved_register(sp, gdb.Value(self.sp + size).cast(pending.read_register(sp).type))
        return info


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


STRANDS = StrandUnwinder()
gdb.unwinder.register_unwinder(None, STRANDS, replace=True)


class Frame:
    """What is wanted of a frame of gdb's, which does not live long."""

    def __init__(self, frame):
        sal = frame.find_sal()
        self.function = frame.name() or "%#x" % frame.pc()
        self.sp = int(frame.read_register("sp"))
        self.library = (self.function.startswith(("weft_", "weft::")) or
                        is_library(frame.pc(), sal.symtab))
        solib = (gdb.solib_name(frame.pc()) or "").rpartition("/")[2]
        self.system = not sal.symtab or solib.startswith(("libc.", "libpthread", "ld-"))
        arguments = list(arguments_of(frame))
        self.w = next((int(v) for _, v in arguments if v is not None and is_context(v.type)), None)
        self.text = "%s (%s)" % (self.function, ", ".join(map(shown, arguments)))
        if sal.symtab:
            self.text += " at %s:%d" % (sal.symtab.filename.rpartition("/")[2], sal.line)
        elif solib:
            self.text += " from " + solib

    def is_public(self):
        return self.function.startswith("weft_") and not self.function.startswith("weft__")


def is_context(kind):
    kind = kind.strip_typedefs()
    return kind.code == gdb.TYPE_CODE_PTR and kind.target().strip_typedefs().tag == "weft"


def shown(argument):
    name, value = argument
    simple = value is not None and value.type.strip_typedefs().code in (
        gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_FLT)
    return "%s=%s" % (name, value.format_string(symbols=False) if simple else "...")


def arguments_of(frame):
    """Names and values; None for what the compiler has not kept."""
    try:
        block = frame.block()
    except RuntimeError:
        return
    while block.function is None and block.superblock:
        block = block.superblock
    for symbol in block:
        if symbol.is_argument:
            yield symbol.name, argument_value(frame, symbol)


def argument_value(frame, symbol):
    """Its value now, or else the value that it had when the function was called."""
    try:
        value = frame.read_var(symbol)
        if value.is_optimized_out:
            frame.select()
            value = gdb.parse_and_eval(symbol.name + "@entry")
        value.fetch_lazy()
        return None if value.is_optimized_out else value
    except (gdb.error, ValueError):
        return None


def walk(frame):
    while frame is not None:
        yield Frame(frame)
        try:
            frame = frame.older()
        except gdb.error:
            return


def frames_of_thread(thread):
    with Selected(thread):
        return list(walk(gdb.newest_frame()))


def frames_of_strand(strand):
    """The frames of a stack that was left by weft__strand_switch; [] if they can't be read."""
    name = gdb.selected_inferior().architecture().name()
    if name not in STRANDS.saved or "context" in (f.name for f in strand.type.fields()):
        return []
    with Selected(None):
        STRANDS.sp, STRANDS.enabled = int(strand["sp"]), True
        gdb.invalidate_cached_frames()
        try:
            return list(walk(gdb.newest_frame().older()))
        finally:
            STRANDS.sp, STRANDS.enabled = None, False
            gdb.invalidate_cached_frames()


# ---- Logical back traces ----


class Stack:
    """All frames of a thread or of an actor, and the jobs among them, the innermost first."""

    def __init__(self, title, frames, records):
        self.title = title
        self.frames = frames
        self.records = sorted(records, key=lambda r: r.address)

    def place_of(self, address):
        """The index of the frame in which the address lies; of inlined functions, the outermost."""
        return max(bisect.bisect_right([frame.sp for frame in self.frames], address) - 1, 0)

    def program_from(self, index):
        """The first frame from there on that is not the library's."""
        return next((i for i in range(index, len(self.frames)) if not self.frames[i].library), index)

    def job_at(self, index):
        """The job whose frames are at `index`, and where the library's frame is that runs it."""
        for record in self.records:
            place = self.place_of(record.address)
            if place >= index:
                return record, place
        return None, len(self.frames) - 1

    def fork_place(self, slot):
        """The innermost frame that may have forked `slot`. That function ran in `slot` or before it;
        what runs in a later slot is the left side, which was called after the fork."""
        record = next((r for r in self.records if r.w <= slot and same_context(r.w, slot)), None)
        if not record:
            return 0
        inner = [self.place_of(r.address) for r in self.records if r.address < record.address]
        first = max(inner) + 1 if inner else 0
        known = [(i, self.frames[i].w) for i in range(first, self.place_of(record.address))
                 if self.frames[i].w and same_context(self.frames[i].w, slot)]
        exact = [i for i, w in known if w == slot and not self.frames[i].library]
        later = [i for i, w in known if w > slot]
        return exact[0] if exact else max(later) + 1 if later else first


@kept
def block_size():
    context = all_workers()[0].value["context"]
    return int(context["end"]) - int(context)


def same_context(a, b):
    size = block_size()
    return (a - 1) // size == (b - 1) // size


def own_stack(worker):
    """The stack of its thread. While that runs an actor, the thread's own stack is one that was left."""
    thread = worker.thread()
    if not thread:
        return None
    here = [w for w in all_workers() if w.thread() and w.thread().num == thread.num]
    fiber = next((int(w.value["fiber"]) for w in here if int(w.value["fiber"])), 0)
    frames = (frames_of_strand(at(fiber, "struct weft__fiber")["home"].dereference())
              if fiber else frames_of_thread(thread))
    return Stack(worker.title(), frames, [r for w in here for r in w.records()])


class Member:
    """A part of an actor: itself, or a right side that was stolen."""

    def __init__(self, pointer):
        self.address = int(pointer["stack"])
        self.victim, self.slot, self.task, self.group = int(pointer["victim"]), 0, 0, None
        self.w = int(pointer["base"])


def stack_of_fiber(fiber):
    actor = Actor(fiber["actor"])
    members = [Member(m) for m in linked(fiber["top"], lambda m: m["below"])]
    runner = next((w for w in all_workers() if int(w.value["fiber"]) == int(fiber.address)), None)
    if runner and runner.thread():
        return Stack(actor.name + " on " + runner.title(), frames_of_thread(runner.thread()), members)
    return Stack(actor.name, frames_of_strand(fiber["strand"]), members)


def stack_with(address):
    """The stack in which an address lies, or None."""
    for worker in all_workers():
        if int(worker.value["stack"]["low"]) <= address < int(worker.value["stack"]["high"]):
            return own_stack(worker)
    for actor in all_actors():
        fiber = actor.fiber()
        if fiber is not None and same_context(int(fiber.address) + 1, address):
            return stack_of_fiber(fiber)
    return None


class Trace:
    """Writes a logical back trace: the frames of the program, from thread to thread."""

    most = 32  # jobs

    def __init__(self):
        self.number = 0

    def put(self, frame):
        gdb.write("  #%-2d %s\n" % (self.number, frame))
        self.number += 1

    def put_frames(self, frames):
        """The program's frames; of those of the library only the function that the program called."""
        first = next((i for i, f in enumerate(frames) if f.library), 0)
        if all(f.system for f in frames[:first]):
            frames = frames[first:]  # system calls of the library
        runs = [list(run) for _, run in itertools.groupby(frames, key=lambda f: f.library)]
        for i, run in enumerate(runs):
            if not run[0].library:
                for frame in run:
                    self.put(frame.text)
                continue
            public = [f for f in run if f.is_public()]
            if i + 1 < len(runs) or (public and self.number == 0):
                self.put((public or run)[-1].function.rstrip("_") + " () of weft")

    def follow(self, stack, index):
        for _ in range(self.most):
            if not stack.frames:
                gdb.write("  -- the stack of %s can't be read\n" % stack.title)
                return
            job, end = stack.job_at(index)
            self.put_frames(stack.frames[index:end] if job else without_start(stack.frames[index:]))
            if not job and self.number == 0:
                gdb.write("  -- it runs nothing of the program\n")
                return
            words, stack, index = parent(stack, job, end)
            gdb.write("  -- %s\n" % words)
            if not stack:
                return
        gdb.write("  -- and so on\n")


def without_start(frames):
    """Without what starts a thread or a fiber: the frames of libc and weft at the end."""
    while frames and frames[-1].function != "main" and (frames[-1].library or frames[-1].system):
        frames = frames[:-1]
    return frames


def parent(stack, job, end):
    """What a job is a part of: words, and the stack and the index to go on with; or None."""
    if not job:
        return "this is the root", None, 0
    if isinstance(job, Member):
        return parent_of_member(job)
    name = function_name(job.fn) if job.fn else "a job of the library's own"
    if job.slot:
        words, *rest = parent_of_fork(job)
    elif job.task:
        outside = "from outside" if Task(job.task).value["from_outside"] else "by a job"
        words, *rest = "a task that was submitted %s: this is the root" % outside, None, 0
    elif is_run(stack.frames[:end + 1]):
        words, *rest = "begun by weft_run of %s, in" % stack.title, stack, stack.program_from(end + 1)
    else:
        words, *rest = parent_of_child(job)
    return name + ", " + words, *rest


def is_run(frames):
    """Was the job, whose frames these are, begun by weft_run()? Its part of the library's frames, which
    is called by a pointer and so has a frame of its own, tells."""
    library = itertools.takewhile(lambda f: f.library, reversed(frames))
    return any(f.function.startswith("execute_run") for f in library)


def parent_of_fork(job):
    victim = Worker(job.victim)
    stack = own_stack(victim)
    words = "taken by %s from %s" % (job.worker.title(), victim.title())
    if not stack:
        return words + ", whose thread is unknown", None, 0
    return words + "; forked by", stack, stack.fork_place(job.slot)


def parent_of_child(job):
    address = int(job.group) if job.group is not None else 0
    from_whom = ", taken from %s" % Worker(job.victim).title() if job.victim else ""
    stack = stack_with(address)
    if not stack:
        return "run by %s%s; who spawned it is not noted" % (job.worker.title(), from_whom), None, 0
    words = "run by %s%s; a child of a scope of %s, opened by" % (
        job.worker.title(), from_whom, stack.title)
    return words, stack, stack.place_of(address)


def parent_of_member(member):
    if not member.victim:
        return "this is the root: the actor's function", None, 0
    victim = at(member.victim, "struct weft__member")
    stack = stack_of_fiber(victim["fiber"].dereference())
    below = [stack.place_of(r.address) for r in stack.records if r.address < int(victim["stack"])]
    return "a right side of the same actor; forked by", stack, stack.program_from(max(below, default=-1) + 1)


# ---- Commands ----


def thread_named(argument):
    """gdb's thread of that number; without a number, the selected one."""
    if not argument:
        thread = gdb.selected_thread()
        if not thread:
            raise gdb.GdbError("weft: no thread is selected")
        return thread
    for thread in gdb.selected_inferior().threads():
        if str(thread.num) == argument:
            return thread
    raise gdb.GdbError("weft: there is no thread, worker or actor '%s'" % argument)


def named(argument):
    """A worker, an actor, or a thread that is neither: by its name or the number of the thread."""
    name = argument.strip("'\"")
    for who in all_workers() + all_actors():
        if name and name in (who.name, who.short_name):
            return who
    thread = thread_named(argument)
    workers = [w for w in all_workers() if w.thread() and w.thread().num == thread.num]
    innermost = [w for w in workers if not int(w.value["above"])]
    return innermost[0] if innermost else thread


class Weft(gdb.Command):
    """What weft does: its pools, jobs and actors.

weft workers      pools, their threads, what these run and wait for
weft bt [WHO]     logical back trace: across threads, to where the work began
weft actors [bt]  actors, what they wait for; bt: and where
weft why [WHO]    what it waits for, what that waits for, and so on

WHO is the number of a thread, as in `info threads', a name that `weft workers' shows, such as
worker 0, or the name of an actor; without it, the selected thread. Nothing is called or changed
in the program."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_STATUS, prefix=True)


class Command(gdb.Command):
    def __init__(self):
        super().__init__(self.name, gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        for function in KEPT:
            function.cache_clear()
        roster()
        try:
            self.run(argument.strip())
        except gdb.MemoryError as error:
            raise gdb.GdbError("weft: %s: the program has overwritten something, or the core file is"
                               " not complete" % error)


class Workers(Command):
    """Pools of weft: their workers, guests and spares; what these run, what they wait for.
Usage: weft workers"""

    name = "weft workers"

    def run(self, argument):
        for pool in pools():
            gdb.write(pool.headline() + "\n")
            for worker in pool.workers():
                gdb.write("  %s\n" % self.line(worker))
        if not pools():
            gdb.write("weft: there is no pool\n")

    @staticmethod
    def line(worker):
        wait = worker.wait()
        stands = worker.is_blocked() or worker.awaited()
        parts = ["%s: %s%s" % (worker.title(), worker.state(), ", " + wait.words if stands else "")]
        parts += [worker.runs()] if worker.runs() else []
        parts.append("forks %d, pending %d" % worker.forks())
        parts.append("jobs %d, steals %d, injected %d, sleeps %d" % tuple(
            worker.count(name) for name in ("jobs", "steals", "injected", "sleeps")))
        return "; ".join(parts)


class Backtrace(Command):
    """The logical back trace of a thread or an actor.
Usage: weft bt [WHO]
It has the frames of the program; of the library only the function that was called. Where a job was
stolen or spawned, it goes on with the thread that forked it, or opened the scope, up to weft_run,
weft_submit or the function of an actor."""

    name = "weft bt"

    def run(self, argument):
        stack = self.stack_of(named(argument))
        gdb.write(stack.title + "\n")
        Trace().follow(stack, 0)

    @staticmethod
    def stack_of(who):
        if isinstance(who, Actor):
            if who.fiber() is None:
                raise gdb.GdbError("weft: %s %s" % (who.name, who.wait().words))
            return stack_of_fiber(who.fiber())
        if isinstance(who, Worker) and int(who.value["fiber"]):
            return stack_of_fiber(at(who.value["fiber"], "struct weft__fiber"))
        if isinstance(who, Worker):
            return own_stack(who)
        return Stack("thread %d, which is in no pool" % who.num, frames_of_thread(who), [])


class Actors(Command):
    """Actors of all pools: state, executor, messages, and what each waits for.
Usage: weft actors [bt]
With bt, also the back trace of each actor that waits."""

    name = "weft actors"

    def run(self, argument):
        for actor in all_actors():
            gdb.write(actor.line() + "\n")
            if argument == "bt" and actor.state() == "WAITING":
                Trace().follow(stack_of_fiber(actor.fiber()), 0)
        if not all_actors():
            gdb.write("weft: there is no actor\n")


class Why(Command):
    """What a thread or an actor waits for, who has it, and what that one waits for, to the end.
Usage: weft why [WHO]"""

    name = "weft why"

    def run(self, argument):
        who = named(argument)
        if not isinstance(who, (Worker, Actor)):
            serial = serial_of(who)
            if serial is None:
                raise gdb.GdbError("weft: thread %d is in no pool" % who.num)
            who = Outsider(serial)
        self.follow(who, [])

    def follow(self, who, path):
        """Writes a line for each, those that are waited for below those that wait."""
        indent = "  " * len(path)
        if who in path:
            circle = path[path.index(who):] + [who]
            gdb.write("%sthis is a circle: %s\n" % (indent, " -> ".join(w.name for w in circle)))
            return
        wait = who.wait()
        gdb.write("%s%s %s\n" % (indent, who.title(), wait.words))
        for other in wait.whom:
            self.follow(other, path + [who])
        if not wait.whom:
            gdb.write("%s  here it ends: %s\n" % (indent, wait.end))


def serial_of(thread):
    """The number that the library gave to a thread; None: none, or it can't be read."""
    with Selected(thread):
        try:
            return int(gdb.parse_and_eval("weft__thread_serial::number")) or None
        except gdb.error:
            return None


for command in Weft, Workers, Backtrace, Actors, Why:
    command()
