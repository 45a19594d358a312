# SPDX-License-Identifier: MIT
# amalgamate.awk: joins files into one, see amalgamate.sh. Headers come first, each once. A static name that several files have, or a struct's, gets its file's name added;
# a file's macros end with it. Assembly becomes a statement of C.

function file_id(file,    id)
{
    id = file
    sub(/^src\//, "", id)
    sub(/\.[chS]$/, "", id)
    gsub(/[^a-z0-9_]/, "_", id)
    return id
}

# ---- Which names a file has of its own ------------------------------------------

function note(file, kind, name)
{
    if (name ~ /^(weft_.*|WEFT_.*|static|inline|const|int|void|_Static_assert)?$/ || (file, kind, name) in has)
        return
    has[file, kind, name] = 1
    owners[kind, name]++
}

# The declaration that begins in this line: `static int count, limit = 2;`, `static void run(`.
function note_declaration(file, line,    parts, n, i, before)
{
    gsub(/__attribute__\(\([^()]*(\([^()]*\))?[^()]*\)\)/, "", line)
    gsub(/\/\*.*/, "", line)
    if (line ~ /^[^(]*\([*]/) { # a pointer to a function
        sub(/^[^(]*\([*]/, "", line)
        sub(/[^A-Za-z0-9_].*/, "", line)
        note(file, "name", line)
        return
    }
    before = line
    sub(/[({=].*/, "", before)
    n = line ~ /^[^=;]*\(/ ? 1 : split(before, parts, ",")
    if (n == 1) parts[1] = before
    for (i = 1; i <= n; i++) {
        sub(/[[;].*/, "", parts[i])
        sub(/[ \t]+$/, "", parts[i])
        if (match(parts[i], /[A-Za-z_][A-Za-z0-9_]*$/)) note(file, "name", substr(parts[i], RSTART))
    }
}

function learn(file,    line, in_enum, text)
{
    in_enum = 0
    while ((getline line <file) > 0) {
        if (line ~ /^#[ ]*define[ ]/) {
            split(line, text, /[ (]+/)
            if (file ~ /c$/ && text[2] != "_GNU_SOURCE") macros[file] = macros[file] " " text[2]
            continue
        }
        if (line ~ /^(typedef )?(struct|enum|union) [a-z_0-9]+ \{/) {
            split(line, text, " ")
            note(file, "tag", text[1] == "typedef" ? text[3] : text[2])
        }
        if (line ~ /^enum ([a-z_0-9]+ )?\{/) in_enum = 1
        if (in_enum) {
            text[1] = line
            sub(/\/\*.*/, "", text[1])
            sub(/^enum[^{]*\{/, "", text[1])
            while (match(text[1], /[A-Z][A-Z0-9_]*[ ]*(=[^,}]*)?[,}]?/)) {
                text[2] = substr(text[1], RSTART, RLENGTH)
                text[1] = substr(text[1], RSTART + RLENGTH)
                sub(/[^A-Z0-9_].*/, "", text[2])
                note(file, "name", text[2])
            }
            if (line ~ /\}/) in_enum = 0
            continue
        }
        if (line ~ /^\} [a-z_0-9]+.*;/) { # the end of an unnamed struct
            sub(/^\} /, "", line)
            note_declaration(file, line)
        } else if (line ~ /^typedef .*;/) {
            sub(/^typedef /, "", line)
            note_declaration(file, line)
        } else if (line ~ /^[A-Za-z_].*[(=;[]/ && line !~ /^(struct|union) [a-z_0-9]+ \{|^extern|^[A-Z_]+\(/) {
            note_declaration(file, line)
        }
    }
    close(file)
}

# ---- Text --------------------------------------------------------------------

function is_shared(file, kind, name)
{
    return (file, kind, name) in has && (owners[kind, name] > 1 || name == "link") # unistd.h has one
}

# The line with this file's names; strings are left alone, and members of structs.
function renamed(file, line,    result, token, before, kind)
{
    result = ""
    while (match(line, /"([^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_]*/)) {
        token = substr(line, RSTART, RLENGTH)
        before = result substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + RLENGTH)
        if (token !~ /^"/ && before !~ /(->|[^.]\.|^\.)$/ && before !~ /[0-9]$/) {
            kind = before ~ /(struct|enum|union) $/ ? "tag" : "name"
            if (in_struct && kind == "name" && token ~ /[a-z]/) kind = "member"
            if (is_shared(file, kind, token)) token = token "_in_" file_id(file)
        }
        result = before token
    }
    return result line
}

# A header stands where it is first included.
function header(file,    line, name)
{
    if (file in seen) return
    seen[file] = 1
    if (part == "source" && file !~ /^src/) return # in weft.h
    print "\n/* ---- " file " ---- */"
    while ((getline line <file) > 0)
        if (line ~ /^#[ ]*include "/) {
            split(line, name, "\"")
            header(resolve(file, name[2]))
        } else if (line !~ /SPDX-License|^#[ ]*include <weft/) {
            print line
        }
    close(file)
}

function resolve(file, name)
{
    if (file ~ /^src/) return (name ~ /^weft/ ? "include/" : "src/") name
    if (name ~ /^\.\.\//) return "include/" substr(name, 4)
    return (name ~ /\// ? "include/" : "include/weft/") name
}

function source(file,    line, i, n, names)
{
    print "\n/* ---- " file " ---- */"
    while ((getline line <file) > 0) {
        if (line ~ /^(static const |static )?(struct|union) ([a-z_0-9]+ )?\{/) in_struct = 1
        if (line ~ /^\}/) in_struct = 0
        if (line !~ /SPDX-License|^#[ ]*include ("|<weft)|^#define _GNU_SOURCE/) print renamed(file, line)
        if (line ~ /\};$/) in_struct = 0
    }
    close(file)
    n = split(macros[file], names, " ")
    for (i = 1; i <= n; i++) print "#undef " names[i]
}

# One statement of assembly; the notes at its end are the compiler's business here. A line that is
# one macro's name is left to the preprocessor, and so are directives.
function assembly(file,    line, in_comment, in_note, name, defined, purge)
{
    print "\n/* ---- " file " ---- */"
    while ((getline line <file) > 0) {
        if (line ~ /^\/\*/) in_comment = 1
        if (in_comment) {
            if (line ~ /\*\//) in_comment = 0
            continue
        }
        sub(/[ ]*\/\*.*\*\//, "", line)
        if (line ~ /^[ \t]*$/) continue
        if (line ~ /^#if.*__LP64__/) {
            print line "\n__asm__(\".pushsection .text\\n\""
            inside = 1
        } else if (line ~ /\.section \.note/) {
            in_note = 1
        } else if (line ~ /^#endif/ && in_note) {
            print "        " purge "\".popsection\\n\");"
            for (name in defined) print "#undef " name
            print "#endif"
            return
        } else if (in_note) {
            continue
        } else if (line ~ /^#define/) {
            split(line, parts, " ")
            name = parts[2]
            defined[name] = 1
            sub(/^#define [A-Z_]+ ?/, "", line)
            print "#define " name " \"" line "\\n\""
        } else if (line ~ /^#/) {
            print line
        } else {
            sub(/^[ \t]+/, "", line)
            if (line in defined) {
                print "        " line
                continue
            }
            if (line ~ /^\.macro /) {
                split(line, parts, " ")
                purge = purge "\".purgem " parts[2] "\\n\" "
            }
            if (line == ".text") continue
            gsub(/\\/, "\\\\\\\\", line)
            print "        \"" line "\\n\""
        }
    }
}

BEGIN {
    print "/* SPDX-License-Identifier: MIT */"
    if (part == "header") {
        print "/* weft.h: all headers of weft, in one file. Made by cmake/amalgamate.sh. */"
        for (i = 1; i < ARGC; i++) header(ARGV[i])
        exit
    }
    print "/* weft.c: the library weft, in one file. Made by cmake/amalgamate.sh. */"
    print "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#include \"weft.h\""
    for (i = 1; i < ARGC; i++) if (ARGV[i] !~ /S$/) learn(ARGV[i])
    for (i = 1; i < ARGC; i++) if (ARGV[i] ~ /h$/) header(ARGV[i])
    for (i = 1; i < ARGC; i++) if (ARGV[i] ~ /S$/) assembly(ARGV[i])
    for (i = 1; i < ARGC; i++) if (ARGV[i] ~ /c$/) source(ARGV[i])
    exit
}
