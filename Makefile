# Two commands matter: `make lab` (work) and `make test` (check).  `make help` lists the rest.

PYTHON ?= python3
PORT ?= 8888
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# uv when it is here (on PATH, or put in .uv by `make lock`); pip otherwise.
UV := $(or $(shell command -v uv 2>/dev/null),$(wildcard .uv/bin/uv))
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
NOTEBOOKS := $(wildcard notebooks/*.ipynb)

export PORT
# Some thirty processes import the same modules: the first keeps them compiled for the others.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup lab test lint types unit notebooks-test browser bench notebooks lock clean
.DEFAULT_GOAL := help
.NOTPARALLEL:

help:
	@echo "make lab        open the guided notebooks (PORT=8888), with an S3 server and sample data on this machine"
	@echo "make test       lint, types, tests, notebooks, panels in a real browser, the built wheel"
	@echo "make bench      measure gpufeed beside boto3, in ratios"
	@echo "make notebooks  run every notebook again and store its outputs"
	@echo "make lock       choose dependency versions anew (requirements.lock)"
	@echo "make setup      only make the environment (.venv; PYTHON=python3.12 chooses the Python)"
	@echo "make clean      remove the environment and everything that was built"

setup: $(READY)

# The stamp makes a second run instant; a change of the lock or of pyproject.toml makes it stale.
$(READY): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || \
	  { echo "gpufeed needs Python 3.11 or newer, and there is no '$(PYTHON)' here: install one, or name it with 'make PYTHON=/path/to/python3 …'." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gpufeed needs Python 3.11 or newer, and '$(PYTHON)' is older: name a newer one with 'make PYTHON=python3.12 …'." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "'$(PYTHON)' has no venv module: install it ('apt-get install python3-venv' on Debian and Ubuntu), then run make again." >&2; exit 1; }
	@echo "Making $(VENV) (once; a minute or two) …"
	@test "$$($(BIN)/python -V 2>/dev/null)" = "$$($(PYTHON) -V)" || $(PYTHON) -m venv --clear $(VENV)
	@{ test -n "$(UV)" && $(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock; } || \
	  $(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

lab: setup
	@$(BIN)/python -m gpufeed.lab

test: setup lint types browser unit notebooks-test

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

# The files in their order, browser first: the longest are not left for the end.
unit: setup
	$(BIN)/pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile --no-loadscope-reorder tests

notebooks-test: setup
	$(if $(NOTEBOOKS),GPUFEED_PRICES= $(BIN)/pytest --nbval notebooks,@echo "no notebooks yet")

# Debian's Chromium when this user may install it, Playwright's own build elsewhere.
browser: setup
	@{ command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null || \
	  { command -v apt-get >/dev/null && \
	    if [ "$$(id -u)" = 0 ]; then apt-get update -qq && apt-get install -qq -y chromium >/dev/null; \
	    else sudo -n sh -c 'apt-get update -qq && apt-get install -qq -y chromium' >/dev/null; fi; } || \
	  $(BIN)/playwright install chromium

bench: setup
	@for bench in bench/*.py; do echo "== $$bench"; $(BIN)/python $$bench || exit 1; done

notebooks: setup
	GPUFEED_PRICES= $(BIN)/python tests/house/notebook_hygiene.py run $(NOTEBOOKS)

lock:
	@test -n "$(UV)" || { $(PYTHON) -m venv .uv && .uv/bin/python -m pip install --quiet uv; }
	$(or $(UV),.uv/bin/uv) pip compile pyproject.toml --quiet --upgrade --all-extras --universal --generate-hashes \
	  --no-emit-index-url --no-annotate --output-file requirements.lock

clean:
	rm -rf $(VENV) .uv dist build test-results .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find lib tests bench notebooks -name __pycache__ -o -name .ipynb_checkpoints 2>/dev/null | xargs rm -rf
