#!/bin/sh
# SPDX-License-Identifier: MIT
# Every place that has the number of the version has the one of include/weft.h, and the recipes in
# packaging/ can be read.
set -eu
cd "$(dirname "$0")/../.."
status=0
version=$(sed -n 's/^#define WEFT_VERSION_[A-Z]* //p' include/weft.h | paste -sd.)
minor=${version%.*} # also in the names of the shared library and of Debian's package: docs/abi.md

# has FILE LINE...: the file has each of these lines; blanks around them don't count.
has()
{
    file=$1
    shift
    [ -f "$file" ] || { echo "$file: missing"; status=1; return; }
    for line; do
        sed 's/^[[:space:]]*//; s/[[:space:]]*$//' "$file" | grep -qxF -e "$line" ||
            { echo "$file: there is no line '$line'"; status=1; }
    done
}

# says FILE TEXT: somewhere in the file.
says()
{
    grep -qF -e "$2" "$1" || { echo "$1: there is no '$2'"; status=1; }
}

first=$(grep -m 1 '^## ' CHANGELOG.md)
case $first in "## $version"|"## $version,"*) ;; *)
    echo "CHANGELOG.md: the first part is '$first', not $version"
    status=1
    ;;
esac
says src/weft.map "WEFT_$minor {"
says docs/abi/x86_64.xml "soname='libweft.so.$minor'"

# Debian. A function is in Debian since the release whose node in weft.map it has.
case $(head -n 1 debian/changelog) in "weft ($version"[-\)]*) ;; *)
    echo "debian/changelog: the first entry is not $version"
    status=1
    ;;
esac
has debian/control "Package: libweft$minor"
has "debian/libweft$minor.install" 'usr/lib/*/libweft.so.*'
has "debian/libweft$minor.symbols" "libweft.so.$minor libweft$minor #MINVER#"
# shellcheck disable=SC2013 # nodes are words
for node in $(sed -n 's/^WEFT_\([0-9.]*\) {.*/\1/p' src/weft.map); do
    case $node in *.*.*) release=$node ;; *) release=$node.0 ;; esac
    has "debian/libweft$minor.symbols" "(symver)WEFT_$node $release"
done

has tool/gdb/weft-gdb.py "VERSION = \"$version\""
says tool/gdb/weft-gdb.py "libweft$minor-dbgsym"
says docs/man/weft_gdb.7 "libweft$minor-dbgsym"
says docs/man/weft_gdb.7 "libweft.so.$version-gdb.py"

# Recipes.
has packaging/vcpkg/weft/vcpkg.json "\"version-semver\": \"$version\","
has packaging/conan/conanfile.py "version = \"$version\""
has packaging/meson/weft.wrap "directory = weft-$version" "source_filename = weft-$version.tar.gz"
says packaging/meson/packagefiles/weft/meson.build "version: '$version'"

# Bindings.
has bindings/python/pyproject.toml "version = \"$version\""
has bindings/python/weft/_library.py "SONAME = \"libweft.so.$minor\""
says bindings/python/weft/_library.py "RELEASE = \"$minor.\""
has bindings/rust/weft/Cargo.toml "version = \"$version\""
has bindings/rust/weft-sys/Cargo.toml "version = \"$version\""
says bindings/rust/weft-sys/build.rs "(\"$minor\", \"${minor%.*}.$((${minor#*.} + 1))\")"

# Wherever a reader is told which one to ask for.
others=$(grep -rnoE 'find_package\(weft [0-9.]+' README.md docs test bindings examples |
    grep -vE "\(weft $(echo "$minor" | sed 's/[.]/[.]/')([.][0-9]+)?\$" || :)
[ -z "$others" ] || { echo "$others"; echo "ask for $minor"; status=1; }

if command -v python3 >/dev/null; then
    python3 - packaging/vcpkg/weft/vcpkg.json packaging/conan/conanfile.py \
        packaging/conan/test_package/conanfile.py <<'END' || status=1
import ast, json, sys
for name in sys.argv[1:]:
    with open(name) as file:
        (json.loads if name.endswith(".json") else ast.parse)(file.read())
END
fi
exit $status
