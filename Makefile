# Each target makes its own environment in .venv; all that is needed before is Python >= 3.11, its venv module and make.
#   make PYTHON=python3.12 test     with another Python
#   make WORKERS=4 test             with another number of test processes

PYTHON ?= python3
OUT ?= report
WORKERS ?= auto
CASES ?= 10000

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Each test process keeps to one thread: the processes share the cores.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses 8 --dist worksteal

# A hundred processes would each compile every module again where an environment forbids to keep what they compiled.
unexport PYTHONDONTWRITEBYTECODE

ifndef TOGETHER
.NOTPARALLEL:
endif
.DELETE_ON_ERROR:
.PHONY: help report report-full test test-all checked docs notebooks pictures fuzz bench bench-all kernels lint clean

help:
	@echo "make report       check every claim and write the HTML report to $(OUT)/index.html, with fewer instances and runs"
	@echo "make report-full  the same with all of them"
	@echo "make test         lint, types, the documentation and the quick tests"
	@echo "make test-all     the same with the slow tests"
	@echo "make docs         the documentation as a site: build/docs/index.html"
	@echo "make notebooks    run the notebooks and keep what they print, after a change that they show"
	@echo "make pictures     the documentation's pictures of the report, from the one in $(OUT)/"
	@echo "make fuzz         $(CASES) random inputs to everything that reads any, and what came of them"
	@echo "make bench        the speed of the simulator on the reference workloads, on less work"
	@echo "make bench-all    the same on all of it, by size and by threads (benchmarks/results/), and of the other programs"
	@echo "make kernels      the proofs, exported and put to Rocq's compiler and checker (Debian's package coq)"
	@echo "make lint         ruff and mypy"
	@echo "make clean        remove .venv, caches and $(OUT)/"

report: $(VENV)/installed
	$(BIN)/fedproof report --quick --out $(OUT)

report-full: $(VENV)/installed
	$(BIN)/fedproof report --out $(OUT)

test: checked
	$(PYTEST)

test-all: checked
	$(PYTEST) -m ""

# Neither needs anything of the other, and each keeps one core busy.
checked: $(VENV)/installed-dev
	@$(MAKE) --no-print-directory -j 2 TOGETHER=1 lint docs

docs: $(VENV)/installed-dev
	@test -f build/docs/searchindex.js || rm -rf build/docs  # of a build that was interrupted, Sphinx cannot go on
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W --keep-going -n -b html docs build/docs
	@echo "build/docs/index.html"

notebooks: $(VENV)/installed-dev
	$(BIN)/python notebooks/execute.py

pictures: $(VENV)/installed-dev
	$(BIN)/python docs/pictures.py $(OUT)

fuzz: $(VENV)/installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.run --cases $(CASES)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz.environments

bench: $(VENV)/installed
	$(BIN)/python -m benchmarks.w1_fedavg_svrg --quick
	$(BIN)/python -m benchmarks.w2_open_fl --quick

bench-all: $(VENV)/installed
	set -e; for workload in w1_fedavg_svrg w2_open_fl; do \
	  $(BIN)/python -m benchmarks.$$workload; $(BIN)/python -m benchmarks.$$workload --scaling; done
	set -e; for name in mixing bounds worst_case; do $(BIN)/python -m benchmarks.$$name; done

kernels: $(VENV)/installed
	@command -v coqc >/dev/null || { command -v apt-get >/dev/null && apt-get install -y coq; } || { \
	  echo "make kernels needs coqc: install Coq 8.16 or later (Debian: apt-get install coq)" >&2; exit 1; }
	$(BIN)/python -m validate.kernels build/kernels

lint: $(VENV)/installed-dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m mypy

clean:
	rm -rf $(VENV) $(OUT) build dist docs/notebooks *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "fedproof needs Python 3.11 or newer, and $(PYTHON) is: $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another one, as in: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/made
	$(PIP) install -c constraints.txt -e '.[smt,data]'
	@touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt | $(VENV)/made
	$(PIP) install -c constraints.txt -e '.[dev,smt,data]'
	@touch $@ $(VENV)/installed
