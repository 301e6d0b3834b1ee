# Two commands on a fresh machine (Python 3.11+, git, make): `make memo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: memo memos test lab lint bench clean

memo: .venv/memo.ok  ## build the example client's memo
	$(BIN)/fabricreport build params/example.yaml

memos: .venv/memo.ok  ## build all three example memos
	$(BIN)/fabricreport build params/*.yaml

test: .venv/test.ok  ## run every test
	$(BIN)/python -m pytest -n 2 --dist loadfile

lab: .venv/lab.ok  ## open the notebooks in JupyterLab, ready to run and edit
	cd notebooks && ../$(BIN)/jupyter lab decision.ipynb

lint: .venv/test.ok  ## style and types
	$(BIN)/ruff check fabricreport tests notebooks
	$(BIN)/ruff format --check fabricreport tests
	$(BIN)/mypy

bench: .venv/test.ok  ## measure, as ratios against a named alternative in the same run
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest tests/benchmarks --benchmark-enable --benchmark-only

clean:  ## forget caches and environments; editions in output/ are kept
	rm -rf .venv .cache build dist *.egg-info

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/memo.ok: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/test.ok: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ .venv/memo.ok

.venv/lab.ok: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[lab]'
	@touch $@ .venv/memo.ok
