# Two commands on a fresh machine (Python 3.11+, git, make): `make memo` and `make test`.
# Targets of tests, on two cores: quick within 45 s, test within 7 minutes, laws within 7, outside within 15, trust within 40, soak as
# long as it takes.
# OPTIONS go to pytest: `make test OPTIONS="--durations=20 -k page_one"`. Which test guards what: tests/README.md.
PYTHON ?= python3
BIN := .venv/bin
OPTIONS ?=
# Compiled modules are kept: both workers, and every command that a test runs, load the same ones.
TESTS := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 2 --dist loadgroup
PINS := fabricreport/constraints.txt
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $(PINS) --editable

# With FABRICREPORT_TURN one file of tests/outside, by the commit's hash.
OUTSIDE := $(sort $(wildcard tests/outside/test_*.py))
TURN = $(if $(FABRICREPORT_TURN),$(word $(shell echo $$((0x$$(git rev-parse --short=6 HEAD | cut -c1-6) % $(words $(OUTSIDE)) + 1))),$(OUTSIDE)),tests/outside)

# What JupyterLab writes into a notebook beside its cells, and its settings: sentences wrap, and no news is fetched.
LAB_KEYS := $(foreach key,codemirror_mode file_extension mimetype nbconvert_exporter pygments_lexer version,metadata.language_info.$(key))
LAB_SETTINGS := {"@jupyterlab/notebook-extension:tracker": {"codeCellConfig": {"lineWrap": true}}, \
	"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}

.PHONY: memo memos picture quick test laws trust outside soak mutants coverage lab lint bench clean

memo: .venv/memo.ok  ## build the example client's memo
	@echo "Building the example client's memo (half a minute) ..."
	@$(BIN)/fabricreport build params/example.yaml

memos: .venv/memo.ok  ## build all four example memos
	$(BIN)/fabricreport build params/*.yaml

picture: memo  ## renew README's picture of page one from the example's memo; needs pdftoppm
	@$(BIN)/python tests/picture.py output/northmere-ai/latest/memo.pdf

quick: .venv/test.ok  ## the known answers and the laws of the models, while you work: no client is analysed
	@begun=$$(date +%s); $(BIN)/ruff check --quiet fabricreport tests notebooks && \
		$(TESTS) -q -m "not slow and not laws and not trust and not soak" tests/unit $(OPTIONS) && \
		$(BIN)/python tests/weight.py $$(($$(date +%s) - begun))

test: .venv/test.ok  ## every test but those of trust, outside and soak; of laws some clients, by the commit
	$(TESTS) $(OPTIONS)

laws: .venv/test.ok  ## what must hold for any client, over hundreds of them; FABRICREPORT_TENTH=1: a tenth, by the commit
	$(TESTS) -m laws $(OPTIONS)

trust: .venv/test.ok  ## every pair of choices built whole, and 2,000 spoilt inputs; FABRICREPORT_TENTH=1: a tenth, by the commit
	FABRICREPORT_FUZZ_CASES=2000 $(TESTS) -m trust $(OPTIONS)

outside: .venv/outside.ok  ## the wheel elsewhere, screens and axe, LibreOffice, JupyterLab; FABRICREPORT_TURN=1: one of them, by the commit
	$(BIN)/python -m pytest -m outside --timeout 0 $(TURN) $(OPTIONS)

soak: .venv/test.ok  ## 20,000 spoilt inputs
	FABRICREPORT_FUZZ_CASES=20000 $(TESTS) --timeout 0 -m soak $(OPTIONS)

mutants: .venv/test.ok  ## sixty planted faults: which of them the tests catch, and by which test
	$(BIN)/python tests/mutants/run.py

coverage: .venv/coverage.ok  ## which lines of each room `make test` runs; fails where a room runs fewer than before
	@rm -rf .cache/coverage && mkdir -p .cache/coverage
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m coverage run -m pytest -n 2 --dist loadgroup --timeout 0 $(OPTIONS)
	@$(BIN)/python -m coverage combine --quiet && $(BIN)/python -m coverage json --quiet -o .cache/coverage/run.json
	@$(BIN)/python tests/coverage_rooms.py .cache/coverage/run.json

lab: .venv/lab.ok  ## open the notebooks in JupyterLab, ready to run and edit; git sees them without outputs
	@git config filter.notebooks.clean '$(BIN)/python -m nbstripout --keep-id --extra-keys "$(LAB_KEYS)"' || true
	cd notebooks && ../$(BIN)/jupyter lab decision.ipynb

lint: .venv/test.ok  ## style and types
	$(BIN)/ruff check fabricreport tests notebooks
	$(BIN)/ruff format --check fabricreport tests
	$(BIN)/mypy
	$(BIN)/nbqa mypy notebooks

bench: .venv/test.ok  ## measure, as ratios against a named alternative in the same run
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest tests/benchmarks --benchmark-enable --benchmark-only
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python tests/benchmarks/bench_memo.py --write fabricreport/memo/README.md

clean:  ## forget caches and environments; editions in output/ are kept
	rm -rf .venv .cache build dist *.egg-info

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up .venv ..."
	@$(PYTHON) -m venv .venv

.venv/memo.ok: pyproject.toml $(PINS) | .venv/bin/python
	@echo "Installing what a memo needs (about a minute) ..."
	@$(INSTALL) .
	@touch $@

.venv/test.ok: pyproject.toml $(PINS) | .venv/bin/python
	@echo "Installing what the tests need (about a minute) ..."
	@$(INSTALL) '.[test,cluster]'
	@touch $@ .venv/memo.ok

.venv/outside.ok: pyproject.toml $(PINS) | .venv/test.ok
	@$(INSTALL) '.[lab,outside]'
	@touch $@

.venv/coverage.ok: pyproject.toml $(PINS) | .venv/test.ok
	@$(INSTALL) '.[coverage]'
	@touch $@

.venv/lab.ok: pyproject.toml $(PINS) | .venv/bin/python
	@echo "Installing JupyterLab (about a minute) ..."
	@$(INSTALL) '.[lab]'
	@mkdir -p .venv/share/jupyter/lab/settings
	@echo '$(LAB_SETTINGS)' > .venv/share/jupyter/lab/settings/overrides.json
	@touch $@ .venv/memo.ok
