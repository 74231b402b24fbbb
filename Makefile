# make bench   sets up, runs a short profile of the suite over this repository's commits, compares, publishes
# make test    sets up and runs every test
# make check   formatting, lint, types, import layers
# make peers   every speed claim as a ratio against named peers
# make suite   the whole suite for the newest commit, as the results folder keeps it
#
# PYTHON: the interpreter to build on. One that already has torch (a vendor's image) keeps it.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
COMMITS ?= 3
WORKERS ?= 2
SHORT ?= ^(transformer|training|spectral|gemm|elementwise|extension)\.

.PHONY: setup bench test check peers suite clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml scripts/setup.sh
	PYTHON="$(PYTHON)" VENV="$(VENV)" sh scripts/setup.sh
	touch $@

bench: setup
	BIN="$(BIN)" COMMITS="$(COMMITS)" SHORT='$(SHORT)' sh scripts/bench.sh

# These decide on what they measure, or end processes at moments: nothing runs beside them. Names of tests must be the
# same in each process, so that sets keep one order.
ALONE_NAMES := asv_compare daily_run gate_rerun plain_suite planted_changes profile_command survivors
ALONE := $(ALONE_NAMES:%=tests/e2e/test_%.py)

test: setup
	PYTHONHASHSEED=0 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ALONE:%=--ignore=%)
	$(BIN)/python -m pytest $(ALONE)

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

peers: setup
	$(BIN)/python -m peers

suite: setup
	$(BIN)/asv machine --yes
	$(BIN)/asv run HEAD^! --machine "$$(uname -n)"

clean:
	rm -rf $(VENV) .asv .cache html build dist
