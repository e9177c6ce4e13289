# Only Python >= 3.11 and make are needed; everything else is installed into .venv.
# `make demo` and `make test` are for everyone; the others are named in README.md.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# uv does not compile by default, and importing uncompiled torch takes three times as long.
export UV_COMPILE_BYTECODE := 1

.PHONY: demo test check bench bench-ingest bench-search bench-serve setup format lock clean

setup: $(VENV)/.installed

demo: setup
	$(BIN)/milepost db start
	$(BIN)/milepost ingest samples
	$(BIN)/milepost ask "Within how many days of identity verification must a certificate be issued?"

test: setup
	$(BIN)/pytest

bench: setup
	$(BIN)/python -m eval.bench.foundation

bench-ingest: setup
	$(BIN)/python -m eval.bench.ingest

bench-search: setup
	$(BIN)/python -m eval.bench.search

bench-serve: setup
	$(BIN)/python -m eval.bench.serving

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Hashes and versions only: no addresses of registries.
lock: setup
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra openai --extra openvino --extra ray \
		--extra threads --extra topics --universal --python-version 3.11 \
		--generate-hashes --no-header --no-annotate --quiet --output-file requirements.lock

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Milepost needs Python 3.11 or newer; name one: make PYTHON=python3.12")'
	@echo "Installing into $(VENV) (the first time some 3 GB are fetched, mostly PyTorch; allow a few minutes)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@grep -A 40 '^uv==' requirements.lock | sed -n '1p;2,$${/^[a-z]/q;p;}' > $(VENV)/uv.txt
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement $(VENV)/uv.txt
	@$(BIN)/uv pip sync --python $(BIN)/python --require-hashes requirements.lock
	@$(BIN)/uv pip install --python $(BIN)/python --quiet --no-deps --no-build-isolation --editable .
	@touch $@
