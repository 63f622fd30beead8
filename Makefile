# Two commands do everything: `make demo` and `make test`. Each makes the environment it needs by itself.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
OUT    ?= out
SECONDS ?= 300
NATIVE := CMakeLists.txt pyproject.toml $(wildcard native/*/*.?pp native/*/*/*.hpp)

.PHONY: demo test check lint bench fuzz interrupt sanitize stubs clean

demo: $(VENV)/.user         ## map the digits, compare methods on them, and say where the pictures and the report are
	@mkdir -p $(OUT)
	$(BIN)/lowdim map digits -o $(OUT)/digits.html -o $(OUT)/digits.png
	$(BIN)/lowdim compare digits -o $(OUT)/compare-digits.html

test: $(VENV)/.dev $(VENV)/.browser   ## the whole test suite
	$(BIN)/python -m pytest -n auto

check: lint test            ## exactly what continuous integration runs

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

bench: $(VENV)/.bench       ## side by side with the peers; writes BENCHMARKS.md
	$(BIN)/python -m bench $(BENCH)

fuzz: $(VENV)/.dev          ## hostile inputs for SECONDS (300), counted by how they end
	$(BIN)/python tools/fuzz.py --seconds $(SECONDS)

interrupt: $(VENV)/.dev     ## how soon Ctrl-C takes effect, case by case; CASES="UMAP read" for some of them
	$(BIN)/python tools/interrupt.py $(CASES)

sanitize: $(VENV)/.dev      ## tests under AddressSanitizer and UndefinedBehaviorSanitizer, then ThreadSanitizer
	$(BIN)/python tools/sanitize.py address
	$(BIN)/python tools/sanitize.py thread

stubs: $(VENV)/.dev         ## regenerate the native module's type stub
	$(BIN)/python -m nanobind.stubgen -m lowdim._native -o src/lowdim/_native.pyi

clean:
	rm -rf $(VENV) $(OUT) build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# The build tools are installed beside the package: an editable install then rebuilds in seconds.
$(VENV)/.build: | $(BIN)/python
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.11" "nanobind~=3.1.0" cmake ninja
	touch $@

$(VENV)/.user: $(NATIVE) $(VENV)/.build
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[app]"
	touch $@

$(VENV)/.dev: $(VENV)/.user
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[dev]"
	touch $@

# The page is tested in a real browser. It is installed where that is possible without asking; elsewhere
# those tests say that they were skipped, and why.
$(VENV)/.browser: | $(BIN)/python
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq \
	       && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null; } \
	  || echo "no Chromium here: the browser tests will be skipped"
	@touch $@

# setuptools and wheel: one of the peers comes as source only.
$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet setuptools wheel
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[bench]"
	touch $@
