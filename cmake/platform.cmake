# SPDX-License-Identifier: MIT
# Where weft runs, and where a build tree may be. include/weft/base.h says the same to compilers.
if(PROJECT_SOURCE_DIR STREQUAL PROJECT_BINARY_DIR)
    message(FATAL_ERROR "weft: build it in a folder of its own: cmake -S . -B build "
        "(and remove CMakeCache.txt and CMakeFiles here)")
endif()
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
    math(EXPR bits "8 * 0${CMAKE_SIZEOF_VOID_P}")
    message(FATAL_ERROR "weft: needs Linux on a 64-bit processor; this is ${CMAKE_SYSTEM_NAME}, "
        "${bits} bits")
endif()
