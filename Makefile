# SPDX-License-Identifier: MIT
#: make              build the libraries and the program in build/release
#: make demo         build, and run the demo (ARGS="..." are passed on)
#: make bench        build, and run the benchmarks (ARGS="fib --json" and so on)
#: make server       build, and run the example whose requests are actors (ARGS="--port 0")
#: make guide        build the guide and the manual pages as HTML in build/guide
#: make test         build and test with gcc, with the lint and installation tests; make test-gcc is the same
#: make test-long    not part of make test, but of CI:
#: make test-asan      AddressSanitizer and UBSan, not optimised, checks on
#: make test-clang     clang, without libhwloc
#: make test-tsan      ThreadSanitizer: unit, api and actor
#: make test-check-long  the harnesses of weft check that take long
#: make test-outside   the library built inside another project, for plugins, and from one file
#: make test-stress    the stress tests of test-gcc
#: make test-asan-stress  those that look for leaks, too
#: make test-tsan-long the other tests of test-tsan
#: make test-spin0     the build of test-gcc, with WEFT_SPIN=0 and WEFT_QUANTUM_US=0: workers sleep
#:                     at once, and right sides are taken at once; and counters
#: make test-cxx       the tests of weft.hpp, compiled for C++17, 20 and 23 by gcc and clang
#: make test-eager     the build of test-gcc, with WEFT_FORK=eager and WEFT_SLEEP=tickle-seqcst
#: make test-counters  in neither: WEFT_SLEEP=counters; likewise any other protocol
#: make ports        other processors, another libc, other ways to build, packages; PORTS="musl lto" for some
#: make lint         the lint tests alone
#: make test-check   all harnesses of weft check, as the suite runs them
#: make check-full   every harness of weft check without bounds, CHECK_SECONDS (60) of each at most;
#:                   begun again, it goes on where it stopped (build/release/check-full.txt)
#: make abi          write docs/abi/x86_64.xml, with which the lint tests compare the library
#: make deb          build the Debian packages in build/deb
#: make format       format the sources
#: make install      install below PREFIX (/usr/local) inside DESTDIR (empty)
#: make uninstall    remove what was installed
#: make clean        remove build/
#: make help         this text
#: ./run ...         the same as make ..., after installing what it needs (Debian, Ubuntu)

PREFIX ?= /usr/local
ARGS ?=
CHECK_SECONDS ?= 60
PEERS := OFF
BUILD := build/release
TARGET := all
JOBS := $(shell nproc 2>/dev/null || echo 2)
GENERATOR := $(if $(shell command -v ninja 2>/dev/null),-G Ninja)
MATRIX := gcc
LONG := asan clang tsan check-long cxx outside stress asan-stress tsan-long spin0 eager
PROTOCOLS := tickle tickle-seqcst tickle-flag tickle-swap counters counters-local counters-blocks \
	counters-all counters-two events-plain events-latch

all: build

help:
	@sed -n 's/^#: //p' Makefile

build: # all, or one target
	@cmake -S . -B $(BUILD) $(GENERATOR) -DWEFT_TESTS=OFF -DWEFT_PEERS=$(PEERS) \
	    -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target $(TARGET)

demo: TARGET := weft_tool
demo: build
	@$(BUILD)/weft demo $(ARGS)

bench: PEERS := ON # other runtimes, to compare with; Rayon takes a while to build
bench: build
	@$(BUILD)/weft bench $(ARGS)

server: build
	@cmake --build $(BUILD) --target example-server >$(BUILD)/server.log || \
	    { cat $(BUILD)/server.log; exit 1; }
	@exec $(BUILD)/examples/server/example-server $(ARGS)

guide:
	@sh docs/guide/build.sh build/guide && echo "build/guide/index.html"

test:
	@sh test/matrix.sh $(MATRIX)

test-long:
	@sh test/matrix.sh $(LONG)

$(MATRIX:%=test-%) $(LONG:%=test-%) test-check $(PROTOCOLS:%=test-%): test-%:
	@sh test/matrix.sh $*

lint:
	@sh test/matrix.sh lint

ports:
	@sh test/ports.sh $(PORTS)

check-full: build
	@$(BUILD)/weft check --preemptions none --stale none --late 1 --seconds $(CHECK_SECONDS) \
	    --resume $(BUILD)/check-full.txt $(ARGS)

abi: TARGET := weft_shared
abi: build
	@sh test/lint/abi.sh --update $(BUILD)/libweft.so

deb:
	@sh packaging/deb.sh

format:
	@sh test/lint/format.sh --fix

install: build
	@cmake --install $(BUILD)

uninstall:
	@test -f $(BUILD)/install_manifest.txt || { echo "nothing was installed from $(BUILD)"; exit 1; }
	@while read -r file || test -n "$$file"; do rm -fv "$(DESTDIR)$$file"; done \
	    <$(BUILD)/install_manifest.txt

clean:
	@rm -rf build

.PHONY: all help build demo bench server guide test test-long $(MATRIX:%=test-%) $(LONG:%=test-%) test-check $(PROTOCOLS:%=test-%) lint ports \
	check-full abi deb format install uninstall clean
