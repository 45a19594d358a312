#!/bin/sh
# SPDX-License-Identifier: MIT
# dlclose() of libweft.so while workers sleep in it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
$CC -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -I"$INCLUDEDIR" "$here/unload.c" -o unload -ldl
./unload "$LIBDIR/$SONAME"
