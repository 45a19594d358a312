#!/bin/sh
# SPDX-License-Identifier: MIT
# try.sh: the example, with both kinds of library, from an archive of this tree. Exit code 77: no meson.
set -eu
cd "$(dirname "$0")/../.."
command -v meson >/dev/null || { echo "meson is missing (Debian: meson)"; exit 77; }
version=$(sed -n 's/^directory = weft-//p' packaging/meson/weft.wrap)
work=$PWD/build/meson
rm -rf "$work"
mkdir -p "$work/project/subprojects"
cp -RL packaging/meson/example/. "$work/project"
cp -R packaging/meson/weft.wrap packaging/meson/packagefiles "$work/project/subprojects"
tar -czf "$work/project/subprojects/packagefiles/weft-$version.tar.gz" \
    --transform "s|^|weft-$version/|" CMakeLists.txt LICENSE include src
for kind in shared static; do
    log=$work/$kind.log
    {
        meson setup "$work/$kind" "$work/project" --wrap-mode=forcefallback \
            --default-library=$kind &&
            meson compile -C "$work/$kind" && meson test -C "$work/$kind" &&
            DESTDIR=$work/stage-$kind meson install -C "$work/$kind"
    } >"$log" 2>&1 || { tail -n 40 "$log"; echo "meson: see $log"; exit 1; }
    echo "meson: $kind: $(grep -E '^Ok:' "$log" | tr -s ' ')"
done
