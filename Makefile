# Everything a checkout can do. Needs Python 3.11 or later, pip, make and g++; the rest goes into .venv.

PYTHON ?= $(or $(shell command -v python3.11),python3)
PY := .venv/bin/python
INSTALLED := .venv/.installed

CONFORMANCE := facts header helper-declarations helpers compile optimised clang functional import cases python-nodes node-calls python-opinfo models planted known getters bindings-compile cpp-link cpp-node-calls
BENCH := emit noop ops10k wide compile-cost bindings python-calls helper-cost

.PHONY: help demo test check format conformance conformance-eras bench clean

help:
	@echo 'make demo         compile the installed PyTorch, and follow one op from spec to C++'
	@echo 'make test         the tests'
	@echo 'make check        ruff and mypy'
	@echo 'make format       let ruff lay the code out'
	@echo 'make conformance  against PyTorch itself; one alone: $(CONFORMANCE:%=conformance-%)'
	@echo 'make conformance-eras  older shapes against older torches; downloads their wheels once, into .cache'
	@echo 'make bench        against the clock; one alone: $(BENCH:%=bench-%)'
	@echo 'make clean        remove what was made'

# Made anew when the project's dependencies or entry points change.
$(INSTALLED): pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv --clear .venv
	$(PY) -m pip install --quiet --disable-pip-version-check --progress-bar off -e '.[dev,torch]'
	@touch $@

demo: $(INSTALLED)
	@$(PY) scripts/demo.py

test: $(INSTALLED)
	$(PY) -m pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

check: $(INSTALLED)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy gradspec backends scripts tests

format: $(INSTALLED)
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# Each prints one last line, `name: passed/total`, and fails when it falls behind what is recorded for it.
conformance: $(CONFORMANCE:%=conformance-%)

$(CONFORMANCE:%=conformance-%): conformance-%: $(INSTALLED)
	@$(PY) tests/conformance/$(subst -,_,$*).py

conformance-eras: $(INSTALLED)
	@$(PY) tests/conformance/eras.py

# Figures are CPU time of whole processes: run them on a machine that does nothing else.
bench: $(BENCH:%=bench-%)

$(BENCH:%=bench-%): bench-%: $(INSTALLED)
	@$(PY) tests/bench/$(subst -,_,$*).py

bench-compile: bench-compile-cost

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
