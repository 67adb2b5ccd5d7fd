# Main job: make report. Tests: make test. Everything runs inside .venv, made on first use.
.DEFAULT_GOAL := help
.PHONY: help setup check fmt build assess report export test lint ci docs bench calibrate clean

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
# The newest interpreter that fits; override with make PYTHON=/path/to/python.
PYTHON ?= $(firstword $(foreach p,python3.13 python3.12 python3.11 python3 python,$(if $(shell $(p) -c 'import sys; print(sys.version_info >= (3, 11))' 2>/dev/null | grep True),$(p))))
# Modules whose public docstrings numpydoc accepts; the list grows.
DOCUMENTED := $(addprefix schemas/,axes.py conventions.py files.py identities.py nearest.py refusal.py spreadsheet.py tables.py units.py) \
  $(addprefix etl/,yaml/encoding.py yaml/reader.py records/citations.py records/formatting.py records/validation.py contribute/diff.py \
  contribute/from_config.py contribute/states.py publish/export.py database/querying.py) shardbook_data.py
BROWSER ?= $(firstword $(wildcard /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome))

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' Makefile | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(READY): requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "shardbook needs Python 3.11 or newer; none was found on the PATH. Install it, or run: make PYTHON=/path/to/python3.11"; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) has no venv module (Debian and Ubuntu: install the python3-venv package)."; exit 2; }
	@echo "Setting up $(VENV) with $$($(PYTHON) --version) (once, about a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

setup: $(READY) ## create .venv and install the pinned requirements

check: $(READY) ## check every record; F=path checks one
	@$(BIN)/shardbook check $(F)

fmt: $(READY) ## bring every record into canonical form
	@$(BIN)/shardbook fmt

build: $(READY) ## records to build/shardbook.duckdb
	@$(BIN)/shardbook build

assess: build ## recompute every run and write the verdicts
	@$(BIN)/shardbook assess

report: assess ## build the offline report and print its path
	@$(BIN)/shardbook report

export: assess ## Parquet, CSV and datapackage.json under build/export
	@$(BIN)/shardbook export

test: $(READY) ## run all tests (no network needed)
	@$(BIN)/python -m pytest -q -n auto --dist loadfile

lint: $(READY) ## ruff, mypy and numpydoc where DOCUMENTED says
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/numpydoc lint $(DOCUMENTED)

docs: $(READY) ## regenerate the generated pages and README blocks
	@$(BIN)/shardbook docs

calibrate: $(READY) ## refit the engine's constants and print fitted beside left-out error
	@$(BIN)/shardbook calibrate

bench: $(READY) ## print speeds as rates and ratios
	@$(BIN)/python -m tests.bench

ci: lint test check ## what the continuous integration runs
	@$(BIN)/shardbook docs --check
	@$(MAKE) --no-print-directory report

clean: ## remove build output (not .venv)
	@rm -rf build
