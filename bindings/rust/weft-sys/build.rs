// SPDX-License-Identifier: MIT
//! Finds libweft: in the folder WEFT_LIB_DIR, or where pkg-config knows it.

use std::{env, process};

/// The release whose sizes and signatures are written down in src/lib.rs.
const RELEASE: (&str, &str) = ("0.2", "0.3");

fn main() {
    println!("cargo:rerun-if-env-changed=WEFT_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rustc-link-lib=weft");
    match env::var("WEFT_LIB_DIR") {
        Ok(folder) => println!("cargo:rustc-link-search=native={folder}"),
        Err(_) => search(),
    }
}

fn search() {
    let tool = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let found = process::Command::new(tool)
        .args([
            "--libs-only-L",
            &format!("weft >= {}", RELEASE.0),
            &format!("weft < {}", RELEASE.1),
        ])
        .output();
    match found {
        Ok(found) if found.status.success() => {
            for flag in String::from_utf8_lossy(&found.stdout).split_whitespace() {
                println!("cargo:rustc-link-search=native={}", flag.trim_start_matches("-L"));
            }
        }
        _ => {
            eprintln!(
                "weft-sys: pkg-config finds no libweft of release {}. Install it, or set \
                 WEFT_LIB_DIR to the folder that has libweft.so",
                RELEASE.0
            );
            process::exit(1);
        }
    }
}
