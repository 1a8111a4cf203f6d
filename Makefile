# make demo and make test are all it takes on a fresh machine with Python 3.11 or newer.

VENV ?= .venv
JOBS ?= 2
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	command -v $$p >/dev/null 2>&1 && \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && \
	echo $$p && break; done)

BASE := $(VENV)/.installed-base
DEV := $(VENV)/.installed-dev

.PHONY: help demo test lint bench clean
.DEFAULT_GOAL := help

help:
	@echo "make demo   score a synthetic population and write reports/demo/ (no network, no model)"
	@echo "make test   run all tests"
	@echo "make lint   ruff, mypy --strict, import rules"
	@echo "make bench  speed and memory, against a plain implementation"
	@echo "make clean  remove the environment and what tests and tools left behind"

$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo "usi needs Python 3.11 or newer; none was found." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(BASE): pyproject.toml $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(DEV): pyproject.toml $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	@touch $(BASE) $@

demo: $(BASE)
	$(BIN)/usi demo

test: $(DEV)
	@.ci/chromium
	$(BIN)/pytest -n $(JOBS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(DEV)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		.import_linter_cache .benchmarks reports/demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
