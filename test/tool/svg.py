# SPDX-License-Identifier: MIT
# svg.py WEFT HEADER: traces made by hand, and what `weft trace --svg` draws of them: it is XML, nothing lies
# outside the picture, times are round, and what is drawn is as long as it was.
import os, re, struct, subprocess, sys, tempfile, xml.etree.ElementTree as xml

weft, header = sys.argv[1:]
MS, SECOND = 10**6, 10**9

# ---- Files, as weft/trace_format.h says: names are those that it has ----

with open(header, encoding="utf-8") as file:
    source = re.sub(r"(?s)/\*.*?\*/", "", file.read())
NUMBERS = {name: int(value) for name, value in re.findall(r"WEFT_TRACE_(\w+) = (\d+)", source)}
kinds = re.search(r"enum weft_trace_kind {(.*?)}", source, re.DOTALL)[1]
KINDS = {name: i for i, name in enumerate(re.findall(r"WEFT_TRACE_(\w+)", kinds))}


def fields(struct_name):
    """(name, format) of each; a moment is two numbers."""
    body = re.search(r"struct weft_trace_%s {(.*?)};" % struct_name, source, re.DOTALL)[1]
    for kind, names in re.findall(r"(char|uint32_t|uint64_t|struct weft_trace_moment) ([^;]*);", body):
        for name in names.split(", "):
            name, _, size = name.partition("[")
            size = size.rstrip("]").replace("WEFT_TRACE_PATH_SIZE", str(NUMBERS["PATH_SIZE"]))
            yield name, {"char": size + "s", "uint32_t": "I", "uint64_t": "Q"}.get(kind, "16s")


def pack(struct_name, **values):
    """What is not named is zero; that there are fields of these names is checked."""
    data = b""
    for name, form in fields(struct_name):
        data += struct.pack("=" + form, values.pop(name, b"" if form.endswith("s") else 0))
    assert not values, values
    return data


def has(struct_name, field):
    return field in dict(fields(struct_name))


def record(ns, kind, a=0, b=0, text=None):
    head = ns << 8 | KINDS[kind]
    if text is not None:
        b = len(text)
        head |= NUMBERS.get("HAS_TEXT", 0)
        text += bytes(-len(text) % 24)
    return pack("record", head=head, a=a, b=b) + (text or b"")


def write(path, threads, ns, program=b"/usr/bin/example"):
    """threads: (name, records) in a list; one block each, and a tick is a nanosecond."""
    first, last = 10**12, 10**12 + ns
    with open(path, "wb") as file:
        file.write(pack("header", magic=b"weft trc", byte_order=0x01020304, version=NUMBERS["VERSION"],
                        block_size=NUMBERS["BLOCK_SIZE"], state=NUMBERS["STOPPED"], pid=77,
                        blocks=len(threads), first=struct.pack("=QQ", first, first),
                        last=struct.pack("=QQ", last, last), started=1, program=program)
                   .ljust(NUMBERS["HEADER_SIZE"], b"\0"))
        for number, (name, records) in enumerate(threads):
            body = b"".join(records)
            more = {"records": len(records)} if has("block", "records") else {}
            block = pack("block", kind=NUMBERS["RECORDS"], used=len(body) // 24, thread=100 + number,
                         sequence=1, name=name, **more) + body
            assert len(block) <= NUMBERS["BLOCK_SIZE"]
            file.write(block.ljust(NUMBERS["BLOCK_SIZE"], b"\0"))


# ---- What is drawn ----

WIDTHS = {"w": 0.82, "m": 0.98, "W": 0.99, "M": 0.87, "@": 1, "%": 0.95, "G": 0.78, "O": 0.79}


class Picture:
    def __init__(self, threads, ns, **about):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace")
            write(trace, threads, ns, **about)
            self.source = subprocess.run([weft, "trace", trace, "--svg", "-"], check=True,
                                         stdout=subprocess.PIPE).stdout.decode()
        self.root = xml.fromstring(self.source)
        self.width, self.height = (float(self.root.get(side)) for side in ("width", "height"))
        self.nodes = [(node.tag.split("}")[1], node) for node in self.root.iter()]
        self.check_inside()

    def texts(self):
        return ["".join(node.itertext()) for tag, node in self.nodes if tag == "text"]

    def check_inside(self):
        """Letters are as wide as those of DejaVu Sans, which is a wide one, or wider."""
        for tag, node in self.nodes:
            if tag == "text":
                text = "".join(node.itertext())
                x, y = float(node.get("x")), float(node.get("y"))
                size = float(node.get("font-size", 12))
                wide = size * sum(1.2 if c >= "\u1100" else WIDTHS.get(c, 0.6) for c in text)
                left = {None: x, "middle": x - wide / 2, "end": x - wide}[node.get("text-anchor")]
                assert left >= 0 and left + wide <= self.width, text
                assert size <= y <= self.height - 2, text
            elif tag == "rect" and node.get("x"):
                x, y, w, h = (float(node.get(name)) for name in ("x", "y", "width", "height"))
                assert x >= 0 and y >= 0 and x + w <= self.width and y + h <= self.height

    def area(self, shade, rows=1):
        """What share of the rows a shade covers."""
        sum = 0
        for tag, node in self.nodes:
            if tag == "path" and node.get("class") == f"s{shade}":
                for w, h in re.findall(r"h([\d.]+)v([\d.]+)h-", node.get("d")):
                    sum += float(w) * float(h)
        bars = [float(node.get("height")) for _, node in self.nodes if node.get("class") == "none"]
        assert len(set(bars)) == 1
        return sum / (1000 * bars[0] * rows)

    def ticks(self):
        return [t for t in self.texts() if re.fullmatch(r"0|[\d.:]+ (ns|us|ms|s|min|h)", t)][1:]

    def title(self):
        return self.texts()[0]


FUNCTION, ACTORS, JOBS, BLOCKED, WAITING, SEARCHING, ASLEEP = 1, 6, 7, 8, 9, 10, 11


def near(a, b):
    assert abs(a - b) < 0.01, (a, b)


# One thread and a millisecond: half of it is a job, and of that half is a wait.
one = [record(0, "GUEST"), record(MS // 4, "JOB", 0x1000), record(MS // 2, "WAIT", 5, text=b"waits"),
       record(3 * MS // 4, "WAIT_END"), record(MS, "JOB_END", 0x1000), record(MS, "GUEST_END")]
p = Picture([(b"main", one)], MS)
near(p.area(FUNCTION), 0.5)
near(p.area(WAITING), 0.25)
assert p.title() == "example"
assert p.ticks() == ["0", "0.1 ms"] + [f"0.{i} ms" for i in range(2, 10)] + ["1 ms"], p.ticks()
assert "spans" not in p.texts() and "steals" not in p.texts() and "asleep" not in p.texts()

# Ten minutes in which jobs and searches alternate 3 to 1, far faster than there are columns. Each
# column shows the shares.
step, many = 600 * SECOND // 1300, []
for i in range(1300):
    many += [record(i * step, "JOB", 0x1000), record(i * step + step * 3 // 4, "JOB_END", 0x1000)]
p = Picture([(b"weft-0", many)], 600 * SECOND)
near(p.area(FUNCTION), 0.75)
assert p.ticks() == ["0"] + [f"{i}:00 min" for i in range(1, 11)], p.ticks()
for ns, last in ((50, "50 ns"), (7200, "7 us"), (90 * SECOND, "90 s"), (130 * SECOND, "2:00 min"),
                 (5 * 3600 * SECOND, "5:00 h"), (100 * 86400 * SECOND, "2400:00 h")):
    p = Picture([(b"x", [record(0, "JOB", 1)])], ns)
    assert p.ticks()[-1] == last and 4 <= len(p.ticks()) <= 12, (ns, p.ticks())

# Four threads, seven functions, all activities; guests come first, weft-2 before weft-10. So many long
# names need two lines.
LARGE = 0x7FFFFFFF00000000
threads = []
for i, name in enumerate((b"weft-10", b"weft-2", b"weft-1", b"main")):
    records = [record(0, "GUEST")] if name == b"main" else [record(0, "SEARCH"), record(1, "SEARCH_END")]
    for f in range(7):  # the first has the most work
        records += [record((f + 1) * MS, "JOB", LARGE + f),
                    record((f + 2) * MS - 1000 * f, "JOB_END", LARGE + f)]
    threads.append((name, records))
threads[0][1].append(record(10 * MS, "TURN", 9))
threads[1][1].append(record(10 * MS, "BLOCK", 9, text=b"waits for mutex"))
threads[2][1].append(record(10 * MS, "SLEEP"))
p = Picture(threads, 20 * MS)
texts = p.texts()
names = [t for t in texts if t in ("main", "weft-1", "weft-2", "weft-10")]
assert names == ["main", "weft-1", "weft-2", "weft-10"], names
for shade in range(FUNCTION, FUNCTION + 5):
    near(p.area(shade, 4), 1 / 20)
near(p.area(JOBS, 4), 2 / 20)
for shade in (ACTORS, BLOCKED, ASLEEP):
    near(p.area(shade, 4), 1 / 8)
assert {"actors", "other jobs", "blocked", "asleep"} <= set(texts), texts

# 64 threads, and more than there is place for; steals: those of the longest jobs.
for count in (64, 300):
    def took(i):
        return i * 37 % count * MS // 10

    threads = [(b"main", [record(0, "GUEST"), record(1, "JOB", 1), record(90 * MS, "JOB_END", 1)])]
    for i in range(1, count):
        threads.append((b"weft-%d" % i, [record(0, "SEARCH"), record(i * MS // 5, "STEAL", 100, 5), record(i * MS // 5, "JOB", 1, 5),
                                         record(i * MS // 5 + took(i), "JOB_END", 1)]))
    threads[1][1].extend((record(95 * MS, "STEAL", 100, 5), record(95 * MS, "JOB", 1, 5),
                          record(95 * MS + 1, "JOB_END", 1)))  # the last one, and a short one
    p = Picture(threads, 100 * MS)
    rows = [node for _, node in p.nodes if node.get("class") == "none"]
    assert len(rows) == min(count, 100)
    heads = [node for _, node in p.nodes if node.get("class") == "head"]
    assert len(heads) == 30 + 1, len(heads)
    times = [float(re.search(r"[\d.]+", t)[0]) for t in re.findall(r"it ran for ([\d.]+ ms)", p.source)]
    longest = sorted(took(i) / MS for i in range(1, min(count, 100)))[-30:]
    assert [abs(a - b) < 0.06 for a, b in zip(sorted(times), longest)] == [True] * 30, times
    assert ("and 200 more threads" in p.texts()) == (count == 300)
    assert p.height < 1500

# Hostile names, everywhere. Nothing is cut in the middle of a character.
evil = b'<script>&"\'\x01\xff]]>-->' + "\u4e2d\U0001f600".encode() * 20
records = [record(0, "GUEST"), record(0, "JOB", 0x1000), record(MS, "SPAN", text=evil[:200]),
           record(50 * MS, "SPAN_END"), record(60 * MS, "SPAN", text=b""), record(70 * MS, "SPAN_END"),
           record(80 * MS, "SPAN", text=b"short"), record(100 * MS, "JOB_END")]
p = Picture([(evil[:38], records), (b"w" * 39, [record(0, "JOB", 1)]),
             (b"MW" * 19, [record(0, "JOB", 1)])], 100 * MS, program=b"/" + evil * 4)
assert "<script" not in p.source and "\ufffd" not in p.source
assert "short" in p.texts() and any(t.endswith("\u2026") for t in p.texts())
assert any(t.startswith("<script>&\"'??]]>") for t in p.texts())

# Nothing at all.
p = Picture([], MS)
assert p.title() == "example"
