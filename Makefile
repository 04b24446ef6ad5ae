# Two commands do everything on a fresh machine with make and Python 3.11 to 3.13: `make demo` and `make test`.

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' >/dev/null 2>&1 && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
DEMO ?= demo-workspace
# Each has a Label Studio of its own, about a gigabyte with it.
WORKERS ?= 2
STAMP := $(VENV)/.ready
NEURAL := $(VENV)/.ready-neural
TORCH ?= torch==2.13.0
N ?= 100000
# What Python compiles is kept, the tests' asserts among it: to compile all anew takes half of the time before a first test.
unexport PYTHONDONTWRITEBYTECODE
# Studies, databases and servers of the tests lie in memory where there is enough of it: each write to a disk is waited for.
SCRATCH = scratch=$$(mktemp -d "$$(sh tests/scratch.sh)/annot-XXXXXX") && trap 'rm -rf "$$scratch"' EXIT && chmod 711 "$$scratch" && export TMPDIR="$$scratch"
QUICK = not studio and not browser and not postgres and not benchmark and not long

.PHONY: demo test test-benchmarks test-long test-neural check docs bench pictures format facet-model golden wheel clean

demo: $(STAMP)
	$(BIN)/annot demo $(DEMO)

# FILE=toolkit/annot/... runs only the tests that belong to a file, FILE=tests/... those of one test file.
test: $(STAMP) system-packages
ifdef FILE
	@files=$$($(BIN)/python tests/tests_of.py $(FILE)) && set -x && $(BIN)/python -m pytest -q -m '$(QUICK)' $$files
else
	$(SCRATCH) && $(BIN)/python -m pytest -q -m 'not benchmark and not long' -n $(WORKERS) --dist loadfile --no-loadscope-reorder --ignore tests/neural
endif

# Each measurement of benchmarks/ at its smallest size.
test-benchmarks: $(STAMP)
	$(BIN)/python -m pytest -q -m benchmark tests/test_benchmarks.py tests/story/test_whole_study.py

# The demonstration and other long ways on a real Label Studio.
test-long: $(STAMP)
	$(SCRATCH) && $(BIN)/python -m pytest -q -m long tests/story tests/labelstudio tests/commands

# Systems with encoders. torch comes first and by itself: what asks for it would take another build.
test-neural: $(NEURAL)
	$(BIN)/python -m pytest -q tests/neural

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tests/audit_versions.py
	@$(BIN)/python tests/newer_python.py
	@same=$$(find tests -name 'test_*.py' | sed 's,.*/,,' | sort | uniq -d); \
	test -z "$$same" || { echo "pytest cannot collect two files of one name: $$same"; exit 1; }

docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build

# N made-up papers through the index and the pools, beside the obvious script; minutes for 100,000.
bench: $(STAMP)
	$(BIN)/python benchmarks/pools.py bench-$(N) --papers $(N)

# From a demonstration whose server runs.
pictures: $(STAMP)
	$(BIN)/python docs/take_pictures.py $(DEMO)

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

facet-model: $(STAMP)
	$(BIN)/annot facets train $${ANNOT_SHARED:-../shared}/csabstruct/train.jsonl \
		--held-out $${ANNOT_SHARED:-../shared}/csabstruct/dev.jsonl --out toolkit/annot/corpus/facets/csabstruct.crfsuite.xz

# Renews pools/demo and exports/demo from the packaged rankings: only when what the demonstration writes has changed.
golden: $(STAMP)
	rm -rf $(DEMO)-golden
	$(BIN)/annot demo $(DEMO)-golden
	$(BIN)/annot studio down -C $(DEMO)-golden
	for kind in pools exports; do \
		find $$kind/demo -type f ! -name __init__.py -delete; cp -R $(DEMO)-golden/$$kind/. $$kind/demo/; done
	rm -rf $(DEMO)-golden

wheel: $(STAMP)
	$(BIN)/python -m build --wheel

.PHONY: system-packages
system-packages:
	@sh tests/system-packages.sh

# The stamp is written last: an interrupted set-up is simply done again.
$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "no Python 3.11 to 3.13 found; uv brings one (uv python install 3.13), then run: make PYTHON=$$(uv python find 3.13)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(STAMP)

$(NEURAL): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt $(TORCH)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,neural]' POT 'transformers[serving]'
	@touch $(NEURAL)

clean:
	rm -rf $(VENV) $(DEMO) $(DEMO)-golden build dist toolkit/*.egg-info
