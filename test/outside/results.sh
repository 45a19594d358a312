#!/bin/sh
# SPDX-License-Identifier: MIT
# Results that must not be ignored: the compiler says so; and the program of README.md, which has to
# compile without a warning, fails in words where there is no memory for a pool.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

ignored()
{
    printf '#include <weft.h>\nvoid f(weft *w, weft_pool *p, weft_fn *g);\n%s\n' \
        "void f(weft *w, weft_pool *p, weft_fn *g) { (void)w; (void)p; (void)g; $1; }" >ignored.c
    for level in -O0 -O2; do
        if $CC -std=c17 $level -Werror=unused-result -I"$INCLUDEDIR" -c ignored.c -o ignored.o \
            2>ignored.log; then
            echo "may be ignored: $1"
            exit 1
        fi
        grep -q 'unused-result' ignored.log || { cat ignored.log; exit 1; }
    done
}
ignored 'weft_merge(w)'
ignored 'weft_run(p, g, 0)'
ignored 'weft_submit(p, 0, g, 0)'
ignored 'weft_task_wait(0)'
ignored 'weft_pool_create(&p, 0)'
ignored 'weft_scope_close(w, 0)'
ignored 'weft_spawn(w, 0, g, 0)'

sed -n '/^```c$/,/^```$/p' "$here/../../README.md" | sed '1d; /^```$/,$d' >readme.c
for level in -O0 -O2; do
    $CC -std=c17 $level -Wall -Wextra -Werror -I"$INCLUDEDIR" readme.c -o readme -L"$LIBDIR" -lweft
    [ "$(LD_LIBRARY_PATH=$LIBDIR ./readme)" = 832040 ] || { echo "README.md: wrong result"; exit 1; }
    # The loader and libc fit into that, stacks and contexts of workers may not.
    if (ulimit -v 30000 && LD_LIBRARY_PATH=$LIBDIR exec ./readme) >readme.out 2>readme.err; then
        [ "$(cat readme.out)" = 832040 ] || { echo "README.md: fails and says nothing"; exit 1; }
    elif grep -q '^weft_run: ' readme.err; then
        grep -q 'memory' readme.err || { cat readme.err; exit 1; }
    fi
done
