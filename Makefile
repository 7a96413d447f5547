# `make help` lists what can be made. Everything the site needs happens in the Sphinx build
# (_config.yml and book/_ext), so that the README's plain lines do the same without make.

PYTHON ?= python3
BIN := .venv/bin
BUILD := $(BIN)/jupyter-book build . -W -n --keep-going --all
UV := uv==0.13.9
LOCK := _build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 \
	--no-emit-index-url --no-header --no-annotate $(UPGRADE)

# JupyterLab would ask whether it may fetch news; with this file it neither asks nor fetches.
QUIET_LAB := .venv/etc/jupyter/labconfig/page_config.json

.DEFAULT_GOAL := help
.PHONY: help book test test-torch torch-results test-matrix bench weights experiments lab notebooks lint lock clean

help:
	@echo "make book       build the book's site in _build/html"
	@echo "make test       compute every number again and compare; test the package and the site"
	@echo "make lab        open the notebooks in JupyterLab"
	@echo "make notebooks  execute all notebooks in place"
	@echo "make weights    train the translator that chapters 16 to 18 open (a few seconds)"
	@echo "make experiments  run what chapter 18 reports, those that are missing (up to an hour)"
	@echo "make test-torch installs PyTorch into .venv-torch; the same numbers there, forward and back"
	@echo "make torch-results  run the listings of chapter 19 again and store what they give"
	@echo "make test-matrix  the notebooks' numbers under other processors' instructions and another NumPy"
	@echo "make bench      ten translators from ten seeds; toytf beside PyTorch; how cost grows (ten minutes)"
	@echo "make lint       style of the code, spelling of the text"
	@echo "make lock       make requirements/*.txt again from *.in (UPGRADE=--upgrade for newer versions)"
	@echo "make clean      remove everything that make made"
	@echo
	@echo "Each installs what it needs into .venv the first time."
	@echo "Another Python: make book PYTHON=python3.13"

book: .venv/book.stamp
	$(BUILD)
	@echo
	@echo "The book is built. Open it from the disk:  _build/html/index.html"
	@echo "or serve it:  $(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html"
	@echo "              and open http://127.0.0.1:8000"

# All cores; the tests of one file stay together, since a notebook's cells need one kernel.
test: .venv/test.stamp
	$(BIN)/python -m pytest -n auto --dist loadfile

lab: .venv/lab.stamp $(QUIET_LAB)
	$(BIN)/jupyter lab notebooks/01_overview.ipynb

notebooks: .venv/book.stamp
	$(BIN)/python book/execute.py

weights: .venv/book.stamp
	$(BIN)/python -m toytf.translator train --out toytf/data/translator.npz

experiments: .venv/book.stamp
	$(BIN)/python -m toytf.experiments --out toytf/data/experiments.json

test-torch: .venv-torch/torch.stamp
	OMP_NUM_THREADS=1 .venv-torch/bin/python -m pytest -o addopts= tests/with_torch

torch-results: .venv-torch/torch.stamp
	OMP_NUM_THREADS=1 .venv-torch/bin/python -m toytf.listings --out toytf/data/pytorch.json

test-matrix: .venv/test.stamp
	$(BIN)/python tests/matrix.py

bench: .venv-torch/torch.stamp
	.venv-torch/bin/python bench/ten_seeds.py
	.venv-torch/bin/python bench/speed.py --out toytf/data/bench.json

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/codespell

$(QUIET_LAB): .venv/lab.stamp
	$(BIN)/jupyter labextension disable --level=sys_prefix "@jupyterlab/apputils-extension:announcements"
	@touch $@

# One environment for all; each stamp says that its lock and the project itself are installed.
.venv/%.stamp: requirements/%.txt pyproject.toml | .venv/pyvenv.cfg
	@echo "Installing requirements/$*.txt into .venv (once; a minute or two)"
	$(BIN)/python -m pip install --require-hashes -r $<
	$(BIN)/python -m pip install --no-deps --no-build-isolation -e .
	@touch $@

# PyTorch has an environment of its own: the book and `make test` must do without it.
.venv-torch/torch.stamp: requirements/torch.txt pyproject.toml | .venv/pyvenv.cfg
	@echo "Installing requirements/torch.txt into .venv-torch (once; some minutes)"
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/python -m pip install -r $<
	.venv-torch/bin/python -m pip install --no-deps --no-build-isolation -e .
	@touch $@

.venv/pyvenv.cfg:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || { \
		echo "Python 3.11 or newer is needed; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)."; \
		echo "If another one is installed, name it: make book PYTHON=python3.13"; exit 1; }
	@$(PYTHON) -c "import ensurepip, venv" 2>/dev/null || { \
		echo "'$(PYTHON)' cannot make a virtual environment."; \
		echo "On Debian and Ubuntu: sudo apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv

# All three lists are resolved together first, so that the locks agree with each other;
# what is locked now stays as it is unless UPGRADE says otherwise.
lock: _build/lock/bin/uv
	cat requirements/*.txt > _build/lock/all.txt
	$(LOCK) requirements/book.in requirements/test.in requirements/lab.in -o _build/lock/all.txt
	for name in book test lab; do \
		$(LOCK) --generate-hashes -c _build/lock/all.txt requirements/$$name.in \
			-o requirements/$$name.txt || exit 1; done
	$(LOCK) --generate-hashes requirements/matrix.in -o requirements/matrix.txt  # another NumPy, so on its own

_build/lock/bin/uv:
	$(PYTHON) -m venv _build/lock
	_build/lock/bin/python -m pip install $(UV)

clean:
	rm -rf .venv .venv-torch _build .pytest_cache .hypothesis
	find . -name __pycache__ -o -name .ruff_cache -o -name .ipynb_checkpoints | xargs rm -rf
