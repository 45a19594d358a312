#!/bin/sh
# SPDX-License-Identifier: MIT
# Atomic operations are those of src/os/atomic.h, with the order in their name.
set -eu
cd "$(dirname "$0")/../.."

find src -name '*.[ch]' ! -path src/os/atomic.h -exec awk '
    {
        line = $0
        gsub(/atomic_[a-z0-9_]*_(relaxed|acquire|release|acq_rel|seq_cst)\(/, "", line)
    }
    line ~ /(^|[^A-Za-z0-9_])atomic_(load|store|exchange|compare_exchange|fetch|thread_fence)/ ||
    line ~ /(^|[^a-z])(__atomic_|__sync_)/ || line ~ /# *include *<stdatomic\.h>/ {
        print FILENAME ":" FNR ": " $0
        bad = 1
    }
    END { exit bad }' {} +
