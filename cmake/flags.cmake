# SPDX-License-Identifier: MIT
# Warnings for everything, sanitizers for everything, and what makes fast code.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)

set(WEFT_WARNINGS -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Wstrict-prototypes)
if(WEFT_WERROR)
    list(APPEND WEFT_WARNINGS -Werror)
endif()

if(WEFT_SANITIZE STREQUAL "address")
    set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(WEFT_SANITIZE STREQUAL "thread")
    set(sanitize -fsanitize=thread)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        list(APPEND WEFT_WARNINGS -Wno-tsan) # it knows no fences, and says so at each
    endif()
elseif(NOT WEFT_SANITIZE STREQUAL "")
    message(FATAL_ERROR "WEFT_SANITIZE is ${WEFT_SANITIZE}; address, thread or nothing")
endif()

if(WEFT_SANITIZE)
    list(JOIN sanitize " " CMAKE_REQUIRED_FLAGS)
    check_c_source_compiles("int main(void) { return 0; }" WEFT_SANITIZE_WORKS)
    unset(CMAKE_REQUIRED_FLAGS)
    if(NOT WEFT_SANITIZE_WORKS)
        message(FATAL_ERROR "${CMAKE_C_COMPILER} can't link with ${sanitize} "
            "(Debian: libclang-rt-dev or libclang-rt-14-dev for clang, libgcc-12-dev for gcc)")
    endif()
    add_compile_options(${sanitize} -fno-omit-frame-pointer)
    add_link_options(${sanitize})
endif()

# Takes HWLOC_FOUND back, if a program can't be built with it.
macro(weft_check_hwloc)
    if(HWLOC_FOUND)
        set(CMAKE_REQUIRED_INCLUDES ${HWLOC_INCLUDE_DIRS})
        set(CMAKE_REQUIRED_LINK_OPTIONS ${HWLOC_LDFLAGS})
        set(CMAKE_REQUIRED_LIBRARIES ${HWLOC_LIBRARIES})
        check_c_source_compiles("#include <hwloc.h>
            int main(void) { hwloc_topology_t t; return hwloc_topology_init(&t); }" WEFT_HWLOC_WORKS)
        if(NOT WEFT_HWLOC_WORKS)
            set(HWLOC_FOUND FALSE)
        endif()
        unset(CMAKE_REQUIRED_INCLUDES)
        unset(CMAKE_REQUIRED_LINK_OPTIONS)
        unset(CMAKE_REQUIRED_LIBRARIES)
    endif()
endmacro()

# gcc before 13 leaves atomic operations on a byte to libatomic, on RISC-V.
check_c_source_compiles("#include <stdatomic.h>
    #include <stdbool.h>
    int main(void) {
        atomic_bool b = false;
        bool old = false;
        return atomic_exchange(&b, true) || atomic_compare_exchange_strong(&b, &old, true);
    }" WEFT_ATOMICS_INLINE)
set(WEFT_ATOMIC_LIBS "")
if(NOT WEFT_ATOMICS_INLINE)
    set(WEFT_ATOMIC_LIBS atomic)
endif()

# Alignment: a short loop that calls a function takes half as long again where it crosses a cache
# line. Not every compiler knows these flags; clang 13 warns of one in every file.
set(fast -O3)
foreach(flag functions loops)
    set(CMAKE_REQUIRED_FLAGS -Werror)
    check_c_compiler_flag(-falign-${flag}=64 WEFT_HAS_ALIGN_${flag})
    unset(CMAKE_REQUIRED_FLAGS)
    if(WEFT_HAS_ALIGN_${flag})
        list(APPEND fast -falign-${flag}=64)
    endif()
endforeach()
set(optimised "$<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>>")
list(TRANSFORM fast REPLACE "(.+)" "$<${optimised}:\\1>" OUTPUT_VARIABLE WEFT_FAST)
set(WEFT_FAST_MODEL "$<${optimised}:-O2>") # of the model checker
