#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual pages are well formed.
set -eu
cd "$(dirname "$0")/../.."

command -v mandoc >/dev/null || { echo "mandoc is missing (Debian: mandoc)"; exit 77; }
set -- docs/man/*.[13]
[ -f "$1" ] || { echo "there are no manual pages"; exit 77; }
mandoc -T lint -W warning "$@"
