# make demo: the five-part tour on real data.   make test: the tests.   See CONTRIBUTING.md for the rest.
PYTHON ?= python3
BIN := .venv/bin
# make test ENGINE=host (or kernel): the same with every operation in one of the engine's tiers; make parity likewise.
export FUNTORCH_ENGINE := $(or $(ENGINE),$(FUNTORCH_ENGINE))
# With kernels alone most of the time is XLA's: all of them are kept, and the next run takes a third of it.
ifeq ($(FUNTORCH_ENGINE),kernel)
export JAX_COMPILATION_CACHE_DIR := $(CURDIR)/build/kernels
export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS := 0
export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES := -1
endif

.PHONY: demo test parity bench lint docs clean

demo: .venv/demo.stamp
	$(BIN)/funtorch demo

test: .venv/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile
	$(BIN)/python -m pytest --nbmake --nbmake-timeout=300 notebooks/*.ipynb
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --doctest-modules funtorch

parity: .venv/test.stamp
	OMP_NUM_THREADS=1 $(BIN)/python tests/parity/run.py --modules --optimizers

bench: .venv/test.stamp
	$(BIN)/python benchmarks/run.py

lint: .venv/lint.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/test.stamp
	$(BIN)/python docs/build.py

.venv/made.stamp:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "funtorch needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

.venv/demo.stamp: .venv/made.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[demo]'
	touch $@

.venv/test.stamp: .venv/made.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[demo,test]'
	touch $@

.venv/lint.stamp: .venv/made.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[lint]'
	touch $@

clean:
	rm -rf .venv build *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
