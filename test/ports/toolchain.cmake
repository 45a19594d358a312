# SPDX-License-Identifier: MIT
# cmake --toolchain: Debian's cross compiler for the processor PORT (aarch64, riscv64, powerpc64le,
# s390x), and qemu to run what it makes.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PORT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${PORT})
set(CMAKE_C_COMPILER ${PORT}-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/${PORT}-linux-gnu)
foreach(what LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${what} ONLY)
endforeach()
string(REPLACE "powerpc64le" "ppc64le" qemu qemu-${PORT})
set(CMAKE_CROSSCOMPILING_EMULATOR ${qemu} -L /usr/${PORT}-linux-gnu)
