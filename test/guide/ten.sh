#!/bin/sh
# SPDX-License-Identifier: MIT
# ten.sh SOURCE PROGRAM...: the same program for several runtimes; all print the same.
set -eu
source=$1
shift
for program; do
    sh "$(dirname "$0")/run.sh" "$source" "$program" || { echo "in $program"; exit 1; }
done
