#!/bin/sh
# SPDX-License-Identifier: MIT
# The tests of the Rust binding, and its examples.
set -eu
for tool in rustc cargo; do
    "$tool" --version || { echo "skipped: no $tool"; exit 77; }
done

export CARGO_HOME="$PWD/home" LD_LIBRARY_PATH="$WEFT_LIB_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
unset CARGO_TARGET_DIR
cargo_quietly()
{
    cargo "$@" --quiet --offline --locked --manifest-path "$SOURCE/rust/Cargo.toml" \
        --target-dir "$PWD/target"
}
cargo_quietly test
for example in "$SOURCE"/rust/weft/examples/*.rs; do
    "$PWD/target/debug/examples/$(basename "$example" .rs)" 20
done
