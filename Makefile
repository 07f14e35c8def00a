# `make help` lists what can be made. Needed: Python 3.11 or newer, and make.

HOST ?= 127.0.0.1
PORT ?= 7777
VENV := .venv
PY := $(VENV)/bin/python
PIP_INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --require-hashes
UV := $(VENV)/bin/uv
UV_INSTALL := $(UV) pip install --quiet --python $(PY) --require-hashes --compile-bytecode

# Where it is set, each of the processes that tests start compiles every module anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test check nightly bench mutants sizes lock

help:  ## what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/run.stamp  ## prepare everything at the first time, then serve on HOST and PORT
	@HOST="$(HOST)" $(PY) manage.py quickstart --host "$(HOST)" --port "$(PORT)"

test: $(VENV)/dev.stamp  ## all tests; says in one line what is missing for some of them
	@$(PY) -m tests

check: $(VENV)/dev.stamp  ## what CI runs: format, lint, types, imports, checks, tests
	@$(PY) -m tests.side_by_side \
		"$(VENV)/bin/ruff format --check ." \
		"$(VENV)/bin/ruff check ." \
		"nice $(VENV)/bin/mypy" \
		"$(VENV)/bin/lint-imports" \
		"$(PY) -m tests.production_check" \
		"$(PY) -m tests --enforce"

nightly: $(VENV)/dev.stamp  ## what takes long: all tests with more examples, on either database
	$(PY) -m tests.lock
	$(PY) -m tests --nightly --enforce

bench: $(VENV)/dev.stamp  ## our server beside others, on this machine
	@$(PY) -m benchmarks

mutants: $(VENV)/dev.stamp  ## change the product in small ways; which of the changes no test notices
	@$(PY) -m tests.mutants

sizes: $(VENV)/dev.stamp  ## the longest files and functions
	@$(PY) -m tests.sizes

lock: $(VENV)/dev.stamp  ## lock the dependencies anew after a change of pyproject.toml
	@$(PY) -m tests.lock --write

$(VENV)/run.stamp: requirements/run.txt | $(PY)
	@echo "Installing what the server needs ..."
	@$(PIP_INSTALL) -r $<
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt | $(UV)
	@echo "Installing what the tests need ..."
	@$(UV_INSTALL) -r $< || $(PIP_INSTALL) -r $<  # uv knows no settings of pip, such as a mirror
	@touch $@ $(VENV)/run.stamp

# It installs in half of the time that pip takes. Its own version is that of the lock too.
$(UV): | $(PY)
	@awk '/^uv==/ { on = 1 } on { print } on && !/\\$$/ { exit }' requirements/dev.txt > $(VENV)/uv.txt
	@$(PIP_INSTALL) -r $(VENV)/uv.txt

# The newest Python that will do; looked for only when there is no environment yet.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; \
	done)

$(PY):
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is missing: install it, or name it with PYTHON=..."; exit 1; }
	@$(PYTHON) -c "import ensurepip, venv" 2>/dev/null || \
		{ echo "Python cannot make environments here: install the package python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
