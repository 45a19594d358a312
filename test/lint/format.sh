#!/bin/sh
# SPDX-License-Identifier: MIT
# format.sh [--fix]: the sources look as .clang-format says. Versions of clang-format
# disagree, so only this one counts.
set -eu
version=14
cd "$(dirname "$0")/../.."

tool=$(command -v clang-format-$version || command -v clang-format) ||
    { echo "clang-format is missing (Debian: clang-format-$version)"; exit 77; }
"$tool" --version | grep -q " version $version\." ||
    { echo "$tool is not version $version"; exit 77; }

if [ "${1-}" = --fix ]; then
    set -- -i
else
    set -- --dry-run -Werror
fi
find . \( -name .git -o -path ./build \) -prune -o -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' \) -exec "$tool" "$@" {} +
