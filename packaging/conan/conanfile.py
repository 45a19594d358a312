# SPDX-License-Identifier: MIT
# Conan 2. Packs the tree that this folder is in: conan create packaging/conan
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir
from conan.tools.gnu import PkgConfigDeps

SOURCES = ("CMakeLists.txt", "LICENSE", "weft.pc.in", "cmake/*", "include/*", "src/*", "examples/*",
           "tool/gdb/*", "tool/trace/reader.*")


class Weft(ConanFile):
    name = "weft"
    version = "0.2.0"
    description = "Fork-join parallelism for C"
    license = "MIT"
    topics = ("parallelism", "fork-join", "work-stealing", "actors")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "hwloc": [True, False]}
    default_options = {"shared": False, "fPIC": True, "hwloc": False}
    implements = ["auto_shared_fpic"]
    languages = "C"

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in SOURCES:
            copy(self, pattern, root, self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("weft needs Linux on a 64-bit processor")

    def requirements(self):
        if self.options.hwloc:
            self.requires("hwloc/[>=2.9 <3]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ("PROGRAM", "CHECKER", "TESTS", "MPI", "PEERS", "MAN"):
            toolchain.cache_variables[f"WEFT_{name}"] = False
        toolchain.cache_variables["WEFT_HWLOC"] = bool(self.options.hwloc)
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()  # weft looks for hwloc.pc

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan makes these itself, for the generator that the consumer has chosen.
        for folder in ("lib/cmake", "lib/pkgconfig", "share"):
            rmdir(self, os.path.join(self.package_folder, folder))

    def package_info(self):
        self.cpp_info.libs = ["weft"]
        self.cpp_info.system_libs = ["pthread", "dl"]
        self.cpp_info.set_property("cmake_file_name", "weft")
        self.cpp_info.set_property("cmake_target_name", "weft::weft")
        self.cpp_info.set_property("pkg_config_name", "weft")
