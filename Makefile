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

.PHONY: help demo simulate docs docs-tables test test-study test-processors test-size test-lowest fuzz audit wheel lint bench clean
.DEFAULT_GOAL := help

help:
	@echo "make demo   score a synthetic population and write reports/demo/ (no network, no model)"
	@echo "make simulate   run scripted users over the service desk, score, gate, report (offline)"
	@echo "make docs   build the documentation into docs/_build/html (no network)"
	@echo "make docs-tables   write the pages that are made from options and features"
	@echo "make test   run all tests"
	@echo "make test-study   thirty scripted participants in a browser (minutes)"
	@echo "make test-processors   the demo has the same bytes on other kernels and threads (minutes)"
	@echo "make fuzz   N damaged inputs of every kind (N=100000); none may end in an internal error"
	@echo "make test-size   50,000 files in a folder and 900,000 turns in one record (minutes)"
	@echo "make test-lowest   tests with the lowest versions of dependencies (network)"
	@echo "make audit  licences of dependencies, and known vulnerabilities (network)"
	@echo "make wheel  build the wheel twice and compare its bytes"
	@echo "make lint   ruff, mypy --strict, import rules"
	@echo "make bench  speed and memory, against a plain implementation"
	@echo "make study  validation on populations of known truth: writes docs/validation.md (minutes)"
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

# Offline: scripted users and the oracle agent, whose defects (it suggests to leave things, it
# forgets some, it does not always ask first) give users something to react to. The reference is a
# draw of a scripted population, so everything is marked SYNTHETIC.
SIM ?= reports/simulate
SIM_OPTIONS := --domain service_desk --agent oracle:shirk=0.25,miss=0.08,rush=0.1 --runs 3 --survey --quiet
CANDIDATES := varied over-compliant impatient

simulate: $(BASE)
	rm -rf $(SIM)
	$(BIN)/usi simulate scripted:varied --name people $(SIM_OPTIONS) -o $(SIM)/people >/dev/null
	$(BIN)/usi simulate $(CANDIDATES) $(SIM_OPTIONS) -o $(SIM)/runs >/dev/null
	$(BIN)/usi domain difficulty service_desk --print none -o $(SIM)/difficulty.json
	$(BIN)/usi score $(CANDIDATES:%=$(SIM)/runs/%.jsonl) --human $(SIM)/people/people.jsonl \
		--profile robust --difficulty $(SIM)/difficulty.json --print none --quiet \
		-o $(SIM)/card.json -o $(SIM)/card.md -o $(SIM)/card.html
	$(BIN)/usi gate $(SIM)/card.json --simulator varied --tier C --exit-zero --print table --quiet \
		-o $(SIM)/verdict.json -o $(SIM)/verdict.md
	$(BIN)/usi domain results $(CANDIDATES:%=$(SIM)/runs/%.jsonl) -k 1,2,3 --print none \
		-o $(SIM)/results.json -o $(SIM)/results.md
	@echo "SYNTHETIC report: $(SIM)/card.html, results: $(SIM)/results.md"

docs: $(DEV)
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/trees docs docs/_build/html
	@echo "documentation: docs/_build/html/index.html"

docs-tables: $(DEV)
	for page in options api features formats metric_robust reasons map; do $(BIN)/python docs/build_$$page.py || exit 1; done

test: $(DEV)
	@.ci/chromium
	@.ci/npm
	$(BIN)/pytest -n $(JOBS)

# Thirty participants in a browser, and a server that is killed twice: minutes.
test-study: $(DEV)
	@.ci/chromium
	USI_STUDY_FULL=1 $(BIN)/pytest -n0 tests/study_site/test_browser.py

# The demo under other BLAS kernels, without vector instructions, with more threads.
test-processors: $(DEV)
	USI_PROCESSORS=1 $(BIN)/pytest -n0 tests/scoring/test_processors.py

# N damaged inputs of every kind; the smallest input of a failure is kept in tests/fuzz/found.
N ?= 100000
fuzz: $(DEV)
	USI_FUZZ=$(N) $(BIN)/pytest -n $(JOBS) tests/fuzz

# Fifty thousand files and a record of 900,000 turns, in linear time.
test-size: $(DEV)
	USI_SIZE=1 $(BIN)/pytest -n0 tests/loading/test_size.py

# The lowest versions that pyproject.toml allows; needs Python 3.11, for which they have wheels.
LOWEST := $(VENV)-lowest
LOWEST_TESTS ?= tests/loading tests/extraction tests/scoring tests/decisions
test-lowest: $(VENV)/pyvenv.cfg
	$(PYTHON) -m venv $(LOWEST)
	$(BIN)/python .ci/lowest > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet -c $(LOWEST)/constraints.txt -e . \
		'pytest>=8' 'pytest-xdist>=3.5' 'hypothesis>=6.100' 'jsonschema>=4.21'
	$(LOWEST)/bin/pytest -n $(JOBS) $(LOWEST_TESTS)

audit: $(DEV)
	$(BIN)/python .ci/audit

# The time of the last commit stands in the archive, so that the same commit gives the same bytes.
wheel: $(DEV)
	rm -rf dist build/again
	for folder in dist build/again; do \
		SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python .ci/wheel $$folder || exit 1; done
	for made in dist/*.whl; do cmp $$made build/again/$$(basename $$made) || exit 1; done
	@echo "the same bytes twice:"; sha256sum dist/*.whl

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(DEV)
	$(BIN)/python -m benchmarks

study: $(DEV)
	$(BIN)/python benchmarks/bench_study.py

clean:
	rm -rf $(VENV) $(LOWEST) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		tests/report/html/node_modules .import_linter_cache .benchmarks reports/simulate docs/_build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
