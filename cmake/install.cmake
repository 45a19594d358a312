# SPDX-License-Identifier: MIT
# Headers, both libraries, manual pages, weft.pc and the CMake package.
include(CMakePackageConfigHelpers)

install(TARGETS weft_shared weft_static EXPORT weft)
install(FILES include/weft.h include/weft.hpp TYPE INCLUDE)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
file(GLOB cxx_headers CONFIGURE_DEPENDS include/weft/cxx/*.hpp)
install(FILES ${cxx_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/cxx)
foreach(section 1 3 7)
    file(GLOB pages CONFIGURE_DEPENDS docs/man/*.${section})
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

# libhwloc stands in Libs.private, not in Requires.private: hwloc.pc's own private
# libraries (udev) come in no package that libhwloc-dev asks for, and programs that link
# the shared library need no hwloc.pc at all.
set(folders ${HWLOC_LIBRARY_DIRS})
list(REMOVE_ITEM folders ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
list(TRANSFORM folders PREPEND "-L")
list(TRANSFORM HWLOC_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE libraries)
set(private_flags ${folders} ${libraries} -pthread)
list(JOIN private_flags " " private_flags)
file(RELATIVE_PATH prefix_from_pc
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(weft.pc.in weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
configure_package_config_file(cmake/weft-config.cmake.in weft-config.cmake
    INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake
    ${PROJECT_BINARY_DIR}/weft-config-version.cmake DESTINATION ${package})
install(EXPORT weft NAMESPACE weft:: FILE weft-targets.cmake DESTINATION ${package})
