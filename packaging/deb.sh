#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh: builds the Debian packages in build/deb, from a copy of the tree, and asks lintian.
# Exit code 77: something is missing.
set -eu
cd "$(dirname "$0")/.."
out=build/deb
for tool in dpkg-buildpackage:dpkg-dev dh:debhelper lintian:lintian; do
    command -v "${tool%:*}" >/dev/null || {
        echo "deb: ${tool%:*} is missing (Debian: ${tool#*:})"
        exit 77
    }
done

rm -rf $out
mkdir -p $out/weft
tar -cf - --exclude=./.git --exclude=./build --exclude=__pycache__ . | tar -xf - -C $out/weft
(
    unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs this
    cd $out/weft
    dpkg-buildpackage -us -uc -b -j"$(nproc 2>/dev/null || echo 2)"
) >$out/build.log 2>&1 || { tail -n 40 $out/build.log; echo "deb: see $out/build.log"; exit 1; }
lintian --fail-on error,warning --tag-display-limit 0 $out/*.changes
rm -rf $out/weft
ls $out/*.deb
