#!/bin/sh
# SPDX-License-Identifier: MIT
# recipes.sh: what the recipes for vcpkg and Conan make CMake do, without vcpkg and Conan: the files
# that Conan gets, configured with the options of each recipe, installed, and used by Conan's test
# package. Exit code 77: something is missing.
set -eu
cd "$(dirname "$0")"
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
work=$PWD/../build/recipes
rm -rf "$work"
mkdir -p "$work/source"

conan=conan/conanfile.py
python3 - $conan "$work/source" <<'END'
import ast, glob, os, shutil, sys
tree = ast.parse(open(sys.argv[1]).read())
sources = next(ast.literal_eval(node.value) for node in tree.body
               if isinstance(node, ast.Assign) and node.targets[0].id == "SOURCES")
for pattern in sources:
    for name in glob.glob("../" + pattern):
        target = os.path.join(sys.argv[2], os.path.relpath(name, ".."))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        (shutil.copytree if os.path.isdir(name) else shutil.copy)(name, target)
END
vcpkg_options=$(grep -oE -e '-DWEFT_[A-Z]+=[A-Z]+' vcpkg/weft/portfile.cmake | sort)
conan_options=$(sed -n 's/.*for name in (\(.*\)):$/\1/p' $conan | grep -oE '[A-Z]+' |
    sed 's/.*/-DWEFT_&=OFF/' | sort)
[ "$vcpkg_options" = "$conan_options" ] || { echo "the recipes have different options"; exit 1; }

for shared in ON OFF; do
    for hwloc in ON OFF; do
        name=shared-$shared-hwloc-$hwloc
        prefix=$work/$name/prefix
        # shellcheck disable=SC2086 # options are words
        {
            cmake -S "$work/source" -B "$work/$name" -DBUILD_SHARED_LIBS=$shared -DWEFT_HWLOC=$hwloc \
                -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
                -DCMAKE_INSTALL_LIBDIR=lib $vcpkg_options &&
                cmake --build "$work/$name" -j "$(nproc 2>/dev/null || echo 2)" &&
                cmake --install "$work/$name" &&
                cmake -S conan/test_package -B "$work/$name/user" -DCMAKE_PREFIX_PATH="$prefix" &&
                cmake --build "$work/$name/user" && "$work/$name/user/fib"
        } >"$work/$name.log" 2>&1 || { tail -n 30 "$work/$name.log"; exit 1; }
        # What portfile.cmake and package() take for granted.
        for file in lib/cmake/weft/weft-config.cmake lib/pkgconfig/weft.pc share/doc/weft/LICENSE; do
            [ -f "$prefix/$file" ] || { echo "$name: no $file"; exit 1; }
        done
        echo "$name: $(tail -n 1 "$work/$name.log")"
    done
done
