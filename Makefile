# The Engine Room. `make help` lists everything; `make book` and `make test` are the two that matter.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := _build/stamps
export PATH := $(CURDIR)/$(BIN):$(PATH)
unexport PYTHONPATH

# An environment's programs know it by its full path: in a moved or copied checkout they would run the original's code, or none.
ifneq ($(filter-out clean help,$(MAKECMDGOALS)),)
ifneq ($(shell test ! -f $(BIN)/activate || grep -qF "$(realpath $(VENV))" $(BIN)/activate || echo moved),)
$(error this checkout was moved or copied, and $(VENV) is still that of the old place: run `make clean`, then this again)
endif
endif

# Packages and servers come over the network while kernels are compiled.
at_once = $(MAKE) --no-print-directory --jobs 3

NATIVE := CMakeLists.txt pyproject.toml $(shell find native \( -name '*.[ch]pp' -o -name '*.cmake' -o -name '*.in' \) -not -path 'native/wasm/*' -not -name 'wasm*.cpp')

# The environment's own pip; a registry can fail for a moment. What runs long is exec'd, so that make's signals reach it.
pip = PYTHONPATH=src exec $(PYTHON) -m engineroom.making.environment $(VENV) $(1)
# Byte code is written where a module is imported: of most, never.
from_registry = $(call pip,3 install --disable-pip-version-check -q --no-compile --require-hashes -r $(1))

.PHONY: help
help:  ## list what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

.PHONY: book
book:  ## build the book, its labs executed, into _build/html
	+@$(at_once) $(STAMPS)/native $(STAMPS)/servers
	@exec python -m engineroom.making.book build

.PHONY: read
read:  ## build the book for reading: from recordings, with no compiler, no servers and no labs executed
	@$(MAKE) -s --no-print-directory READ=1 $(STAMPS)/book
	@PYTHONPATH=src exec python -m engineroom.making.book read

.PHONY: serve
serve: book  ## build the book and serve it on loopback
	@python -m engineroom.making.book serve

.PHONY: lab
lab: $(STAMPS)/native  ## open the labs in JupyterLab, text notebooks as notebooks
	@python -m engineroom.making.book lab

.PHONY: test
test:  ## test everything: lint, types, native tests under sanitizers, servers, book, browser
	+@$(at_once) $(STAMPS)/test $(STAMPS)/servers
	@exec python -m engineroom.making.checks

.PHONY: quick
quick: $(STAMPS)/test  ## test in about a minute: lint, types, formats, quick Python tests of what you changed; ALL=1 runs all quick ones
	@exec python -m engineroom.making.checks --quick $(if $(ALL),--all)

.PHONY: bench
bench: $(STAMPS)/bench  ## measure what the chapters promise about speed, as ratios, into _build/bench; RECORD=1 keeps it
	@python -m engineroom.bench $(if $(RECORD),--record)

.PHONY: record
record: $(STAMPS)/native  ## measure the recorded runs again and add them to data/recorded
	@engineroom record --all

.PHONY: class
class: $(STAMPS)/bench  ## make student notebooks and autograders of the exercises in _build/class
	@python -m engineroom.teach

.PHONY: site
site: book  ## pack the built book into _build/dist, to be read from disk
	@mkdir -p _build/dist && cd _build && python -m zipfile -c dist/engine-room-site.zip html

.PHONY: measured
measured: book  ## count words, pictures, folds and screens to the first picture of each page (needs Chromium)
	@exec python -m engineroom.making.measured

.PHONY: pdf
pdf: book  ## print the built book into _build/dist (needs Chromium)
	@exec python -m engineroom.making.printed

.PHONY: epub
epub: book  ## write the built book as an EPUB into _build/dist
	@exec python -m engineroom.making.epub

.PHONY: lasts
lasts: $(STAMPS)/native  ## see that Jupyter Book's own command makes the same pages; once a release
	@exec python -m engineroom.making.lasts

.PHONY: wheels
wheels:  ## build the package for Python 3.11 to 3.14 into _build/dist (needs pipx; on Linux also Docker or Podman)
	@pipx run cibuildwheel==4.3.5 --output-dir _build/dist

.PHONY: wasm
wasm:  ## rebuild the WebAssembly kernels of the explorables (needs clang 19)
	@native/wasm/build.sh

.PHONY: lock
lock: $(STAMPS)/book  ## write the lock files from pyproject.toml
	@python -m pip install -q uv
	@uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --generate-hashes --no-header pyproject.toml --all-extras -o requirements/test.txt
	@uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --generate-hashes --no-header pyproject.toml --extra book --extra lab --extra build --extra cluster -c requirements/test.txt -o requirements/book.txt

.PHONY: clean
clean:  ## remove what was built here; downloaded servers stay in the cache (engineroom server clean)
	@rm -rf _build $(VENV) $(VENV).new .pytest_cache .mypy_cache .ruff_cache

# Everything that the system lacks is reported at once, before anything is installed.
$(STAMPS)/system: src/engineroom/system_check.py
	@$(PYTHON) src/engineroom/system_check.py read build --optional servers load
	@mkdir -p $(@D) && touch $@

$(STAMPS)/read-system: src/engineroom/system_check.py
	@$(PYTHON) src/engineroom/system_check.py read
	@mkdir -p $(@D) && touch $@

$(STAMPS)/test-system: src/engineroom/system_check.py
	@$(PYTHON) src/engineroom/system_check.py read build test --optional servers load counts
	@mkdir -p $(@D) && touch $@

$(STAMPS)/book: $(if $(READ),$(STAMPS)/read-system,$(STAMPS)/system) requirements/book.txt
	@echo "Python packages of the book (requirements/book.txt): 0.7 GB in $(VENV), usually 2 minutes"
	@$(call from_registry,requirements/book.txt)
	@python -c "import matplotlib.font_manager"  # lists the fonts once; a slow first time would be a warning in the book
	@touch $@

# In the folder in which the module is built, which then has them.
$(STAMPS)/kernels: $(STAMPS)/system $(NATIVE)
	@echo "Native kernels (native/), compiled once: 0.2 GB in _build, usually 3 minutes on two processors"
	@PYTHONPATH=src exec $(PYTHON) -m engineroom.making.kernels
	@touch $@

$(STAMPS)/native: $(STAMPS)/book $(STAMPS)/kernels
	@echo "The kernels' Python module (native/**/binding.cpp), compiled once: usually 2 minutes on two processors"
	@$(call pip,1 install --disable-pip-version-check -q --no-build-isolation --no-deps -e .)
	@touch $@

$(STAMPS)/test-packages: $(STAMPS)/book requirements/test.txt
	@echo "Python packages of the tests (requirements/test.txt): 0.9 GB more in $(VENV), usually 2 minutes"
	@$(call from_registry,requirements/test.txt)
	@touch $@

$(STAMPS)/test: $(STAMPS)/test-system $(STAMPS)/native $(STAMPS)/test-packages
	@python -m engineroom.making.native_stubs  # types of the compiled module, for mypy
	@touch $@

# Benchmarks and classes need the packages of the tests, not their browser.
$(STAMPS)/bench: $(STAMPS)/native $(STAMPS)/test-packages
	@touch $@

# Servers that this machine can have are fetched and initialised once. One that cannot be had now (exit code 3) costs itself alone:
# the book shows recorded runs for it, and the next make tries it again.
$(STAMPS)/servers: $(STAMPS)/book data/servers.toml
	@echo "MySQL servers: 1.4 GB in your cache folder, usually 3 minutes, most of them for downloads"
	@PYTHONPATH=src python -c "from engineroom.cli import main; main()" server fetch --available && touch $@ || [ $$? -eq 3 ]
