# SPDX-License-Identifier: MIT
# Warnings for everything, sanitizers for everything.
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
    include(CheckCSourceCompiles)
    list(JOIN sanitize " " CMAKE_REQUIRED_FLAGS)
    check_c_source_compiles("int main(void) { return 0; }" WEFT_SANITIZE_WORKS)
    unset(CMAKE_REQUIRED_FLAGS)
    if(NOT WEFT_SANITIZE_WORKS)
        message(FATAL_ERROR "${CMAKE_C_COMPILER} can't link with ${sanitize} "
            "(Debian: libclang-rt-14-dev for clang, libgcc-12-dev for gcc)")
    endif()
    add_compile_options(${sanitize} -fno-omit-frame-pointer)
    add_link_options(${sanitize})
endif()
