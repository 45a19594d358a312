# SPDX-License-Identifier: MIT
# Headers, the libraries, the programs, manual pages, weft.pc and the CMake package.
include(CMakePackageConfigHelpers)

install(TARGETS ${libraries} EXPORT weft)
if(WEFT_PROGRAM)
    install(TARGETS weft_tool)
endif()
if(WEFT_CHECKER)
    install(TARGETS weft_check)
endif()
install(FILES include/weft.h include/weft.hpp TYPE INCLUDE)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
file(GLOB cxx_headers CONFIGURE_DEPENDS include/weft/cxx/*.hpp)
install(FILES ${cxx_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/cxx)
install(FILES LICENSE TYPE DOC)
# Reads traces: other programs take these two files along.
install(FILES tool/trace/reader.c tool/trace/reader.h
    DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/trace)
# gdb looks there for a script of a library in ${CMAKE_INSTALL_FULL_LIBDIR}.
install(FILES ${WEFT_GDB_SCRIPT}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/gdb/auto-load${CMAKE_INSTALL_FULL_LIBDIR})
if(WEFT_MAN)
    foreach(section 1 3 7)
        file(GLOB pages CONFIGURE_DEPENDS docs/man/*.${section})
        install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
    endforeach()
endif()

# ---- weft.pc ------------------------------------------------------------------

# What libweft.a needs: libhwloc, and what that needs itself, as far as it is here. That stands in
# Libs.private, not in Requires.private: libudev comes in no package that Debian's libhwloc-dev asks
# for, a shared libhwloc brings its own, and programs that link libweft.so need no hwloc.pc at all.
set(needed "")
set(folders "")
if(HWLOC_FOUND)
    set(needed ${HWLOC_LIBRARIES})
    foreach(library ${HWLOC_STATIC_LIBRARIES})
        find_library(WEFT_STATIC_${library} ${library} HINTS ${HWLOC_STATIC_LIBRARY_DIRS})
        mark_as_advanced(WEFT_STATIC_${library})
        if(WEFT_STATIC_${library})
            list(APPEND needed ${library})
        endif()
    endforeach()
    list(REMOVE_ITEM needed pthread)
    set(folders ${HWLOC_LIBRARY_DIRS})
    list(REMOVE_ITEM folders ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES} "")
    list(TRANSFORM folders PREPEND "-L")
endif()
list(APPEND needed ${CMAKE_DL_LIBS} ${WEFT_ATOMIC_LIBS})
list(REMOVE_DUPLICATES needed)
list(TRANSFORM needed PREPEND "-l")
set(private_flags ${folders} ${needed} -pthread)
list(JOIN private_flags " " private_flags)

# The folder can be moved, unless its parts were placed one by one. In /usr it stays where it is:
# only so pkg-config sees that compilers look there anyway.
set(pc_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT CMAKE_INSTALL_PREFIX MATCHES "^(/usr)?/?$" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    file(RELATIVE_PATH pc_prefix
        ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
    set(pc_prefix "\${pcfiledir}/${pc_prefix}")
endif()
foreach(folder LIBDIR INCLUDEDIR)
    set(pc_${folder} ${CMAKE_INSTALL_${folder}})
    if(NOT IS_ABSOLUTE "${pc_${folder}}")
        set(pc_${folder} "\${prefix}/${pc_${folder}}")
    endif()
endforeach()
configure_file(weft.pc.in weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# libweft-mpi has its own; what MPI itself needs stands in it as it was found here.
if(WEFT_MPI)
    install(TARGETS weft_mpi EXPORT weft-mpi)
    install(FILES mpi/include/weft/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
    set(mpi_cflags ${MPI_C_INCLUDE_DIRS})
    list(TRANSFORM mpi_cflags PREPEND "-I")
    list(JOIN mpi_cflags " " mpi_cflags)
    list(JOIN MPI_C_LIBRARIES " " mpi_libs)
    configure_file(mpi/weft-mpi.pc.in weft-mpi.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/weft-mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# ---- The CMake package ---------------------------------------------------------

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
configure_package_config_file(cmake/weft-config.cmake.in weft-config.cmake
    INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weft-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake
    ${PROJECT_BINARY_DIR}/weft-config-version.cmake DESTINATION ${package})
install(EXPORT weft NAMESPACE weft:: FILE weft-targets.cmake DESTINATION ${package})
if(WEFT_MPI)
    install(EXPORT weft-mpi NAMESPACE weft:: FILE weft-mpi-targets.cmake DESTINATION ${package})
endif()
