# Every target does the set-up it needs. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory
.NOTPARALLEL:

PYTHON_ENV := .venv/bin/python
JOBS ?= $(shell nproc)
SECONDS_PER_TARGET := $(if $(filter command environment,$(origin SECONDS)),$(SECONDS),60)
export PATH := $(CURDIR)/.venv/bin:$(PATH)

# $(call set_up,PURPOSES,REQUIREMENTS,PRESET): packages, .venv, a configured build/PRESET.
# CMake itself notices changed CMakeLists.txt; the stamp only has to follow the presets.
define set_up
	@tools/setup/install_packages.sh $(1)
	@tools/setup/make_venv.sh $(2)
	@$(if $(3),if [ CMakePresets.json -nt build/$(3)/.configured ]; then \
	  cmake --preset $(3) && touch build/$(3)/.configured; fi)
endef

.PHONY: help
help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build:  ## Build the libraries, the Python module, the tests and the benchmarks in build/release
	$(call set_up,build test,build test,release)
	@cmake --build build/release -j $(JOBS)

.PHONY: module
module:  ## Build only the Python module
	$(call set_up,build test,build test,release)
	@cmake --build build/release -j $(JOBS) --target iruka_python

.PHONY: demo
demo: module  ## Rebuild one photograph from the patches of another, with NumPy and with Iruka
	@PYTHONPATH=build/release/python $(PYTHON_ENV) examples/demo.py

.PHONY: test
test: build  ## Run the C++ suite and the Python suite
	@tools/run_tests.sh build/release

.PHONY: wheel
wheel:  ## Make a wheel in dist/ and try it in an empty environment
	$(call set_up,build,build test wheel,)
	@tools/make_wheel.sh

.PHONY: asan
asan:  ## Build and run both suites with AddressSanitizer and UndefinedBehaviorSanitizer
	$(call set_up,build test,build test,asan)
	@cmake --build build/asan -j $(JOBS)
	@tools/run_sanitized.sh build/asan

.PHONY: tsan
tsan:  ## Build and run both suites with ThreadSanitizer
	$(call set_up,build test,build test,tsan)
	@cmake --build build/tsan -j $(JOBS)
	@tools/run_sanitized.sh build/tsan

.PHONY: fuzz
fuzz:  ## Run each libFuzzer target, or TARGETS="jpeg png", for SECONDS (60)
	$(call set_up,build test fuzz,build,fuzz)
	@cmake --build build/fuzz -j $(JOBS)
	@tools/run_fuzzers.sh build/fuzz $(SECONDS_PER_TARGET) $(TARGETS)

.PHONY: fuzz-arrays
fuzz-arrays: module  ## Compare the array functions with NumPy's on random calls for SECONDS (60)
	@PYTHONPATH=build/release/python $(PYTHON_ENV) tests/fuzz/arrays --seconds $(SECONDS_PER_TARGET)

.PHONY: fuzz-functions
fuzz-functions: module  ## Compare translated Python functions with Python for SECONDS (60)
	@PYTHONPATH=build/release/python $(PYTHON_ENV) tests/fuzz/functions --seconds $(SECONDS_PER_TARGET)

.PHONY: fuzz-blocks
fuzz-blocks: module  ## Compare kernels over blocks of threads with NumPy for SECONDS (60)
	@PYTHONPATH=build/release/python $(PYTHON_ENV) tests/fuzz/blocks --seconds $(SECONDS_PER_TARGET)

.PHONY: fuzz-forms
fuzz-forms: module  ## Write sound and hostile kernels of every form for SECONDS (60)
	@PYTHONPATH=build/release/python $(PYTHON_ENV) tests/fuzz/forms --seconds $(SECONDS_PER_TARGET)

.PHONY: soak-pipeline
soak-pipeline: module  ## Run random pipelines with random faults for SECONDS (60)
	@PYTHONPATH=build/release/python $(PYTHON_ENV) tests/soak/pipeline --seconds $(SECONDS_PER_TARGET)

.PHONY: benchmark
benchmark:  ## Run the benchmarks; results go to build/benchmarks
	$(call set_up,build test,build test benchmark,release)
	@cmake --build build/release -j $(JOBS)
	@PYTHONPATH=build/release/python $(PYTHON_ENV) benchmarks/run.py --build build/release --output build/benchmarks

.PHONY: benchmark-spmd
benchmark-spmd:  ## Compare kernel bodies in lanes with the scalar path, Numba, NumPy, intrinsics and ISPC
	$(call set_up,build test,build test benchmark,release)
	@cmake --build build/release -j $(JOBS) --target iruka_python
	@PYTHONPATH=build/release/python $(PYTHON_ENV) benchmarks/spmd/run.py --output build/benchmarks/spmd

.PHONY: benchmark-arrays
benchmark-arrays:  ## Compare the array library with NumPy, Numba and numexpr; results go to build/benchmarks
	$(call set_up,build test,build test benchmark,release)
	@cmake --build build/release -j $(JOBS) --target iruka_python
	@PYTHONPATH=build/release/python $(PYTHON_ENV) benchmarks/arrays.py --output build/benchmarks

.PHONY: benchmark-forms
benchmark-forms:  ## Compare every form of kernel with NumPy's, Numba's and CuPy's; results go to build/benchmarks
	$(call set_up,build test,build test benchmark,release)
	@cmake --build build/release -j $(JOBS) --target iruka_python
	@PYTHONPATH=build/release/python $(PYTHON_ENV) benchmarks/forms.py --output build/benchmarks

.PHONY: benchmark-spellings
benchmark-spellings:  ## Compare the ways of writing a computation, and intrinsics; results go to build/benchmarks
	$(call set_up,build test,build test benchmark,release)
	@cmake --build build/release -j $(JOBS) --target iruka_python
	@mkdir -p build/benchmarks
	@PYTHONPATH=build/release/python $(PYTHON_ENV) benchmarks/spellings --json build/benchmarks/spellings.json

.PHONY: readme-table
readme-table: benchmark  ## Run the benchmarks and write their figures into README.md
	@$(PYTHON_ENV) tools/readme_table.py build/benchmarks README.md

.PHONY: lint
lint: module  ## Check layers, lengths, Python (ruff, mypy) and C++ (clang-tidy; later only what has changed)
	$(call set_up,lint,lint,)
	@tools/lint.sh build/release

.PHONY: format
format:  ## Format Python files, and the lines of C++ that differ from the last commit
	$(call set_up,build lint,build lint,)
	@.venv/bin/ruff format --quiet .
	@git clang-format-22 --quiet --binary clang-format-22 HEAD || true  # 1 where it changed something

.PHONY: clean
clean:  ## Remove what was built; .venv stays
	@rm -rf build dist
