# Everything the site needs happens in the Sphinx build (_config.yml and book/_ext), so that the README's plain lines
# do the same without make.

PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
BUILD := $(BIN)/jupyter-book build . -W -n --keep-going --all
# SOLUTIONS=no leaves them out, and builds into a folder of its own.
SOLUTIONS ?= yes
MADE := _build/$(if $(filter no,$(SOLUTIONS)),without-solutions/_build/)

.DEFAULT_GOAL := help
.PHONY: help book forms test test-classroom test-torch test-matrix lab notebooks text bench lint lock dist clean

help:
	@echo "make book       build the book's site in _build/html; SOLUTIONS=no: without any solution of an exercise"
	@echo "make forms      the book as pdf, epub, zip and slides, and its notebooks with a Python in the browser (lite);"
	@echo '                in _build/forms; FORMS="pdf zip": these; PAPER=letter: on that paper; SOLUTIONS=no'
	@echo "make test       compute every number again and compare; test the package, the site and the forms"
	@echo "make test-classroom  every attack on the grader that we know of, kills at random moments, an assignment through"
	@echo "                nbgrader (a few minutes; FULL=1: thousands of odd names, damaged notebooks and forged replies)"
	@echo "make test-torch the same numbers in PyTorch, forward and back; STORE=1: store what the chapters' listings give"
	@echo "make test-matrix  the numbers under other processors' instructions, one thread and two, another NumPy, other seeds"
	@echo "make lab        open the notebooks in JupyterLab"
	@echo "make notebooks  make the notebooks of their texts in book/chapters and book/pages, and execute them"
	@echo "make text       bring what was edited in a notebook back to its text"
	@echo "make bench      the times that chapter 22 shows, measured again (a minute)"
	@echo "make lint       style, types, imports, workflows, spelling; and how many lines each room has"
	@echo "make lock       make requirements/*.txt again from pyproject.toml (UPGRADE=--upgrade: with newer versions)"
	@echo "make dist       the package as a wheel and as its source, in _build/dist"
	@echo "make clean      remove everything that make made"
	@echo
	@echo "Each installs what it needs the first time. Another Python: make book PYTHON=python3.13"

book forms: export TOYTF_SOLUTIONS = $(SOLUTIONS)
book: .venv/book.stamp
	$(BUILD)$(if $(filter no,$(SOLUTIONS)), --path-output _build/without-solutions)
	@echo
	@echo "The book is built. Open it from the disk:  $(MADE)html/index.html"
	@echo "or serve it:  $(BIN)/python -m http.server --bind 127.0.0.1 --directory $(MADE)html"
	@echo "              and open http://127.0.0.1:8000"

# Made of the built pages, but for the notebooks with a Python. Chromium prints; Java checks the e-book, if there is one.
FORMS ?= pdf epub zip slides lite
PAPER ?= a4
forms: .venv/test.stamp $(if $(filter lite,$(FORMS)),.venv-lite/lite.stamp) $(if $(filter-out lite,$(FORMS)),book)
	$(BIN)/python book/forms/make.py $(FORMS) --site $(MADE)html --out $(MADE)forms --paper $(PAPER)

# A worker for each core and one more; the tests of one file stay together, since a notebook's cells need one kernel.
# How many, and which files come first: tests/conftest.py.
# Hundreds of Pythons are started: each may keep what it compiled, whatever the machine's settings say.
test test-classroom: export PYTHONDONTWRITEBYTECODE =
test: .venv/test.stamp
	$(PYTEST) -n auto --dist loadfile --no-loadscope-reorder

# Not in `make test`: attacks run only where somebody asks for them.
HOSTILE := with_attacks $(if $(FULL),test_strangers.py test_grade.py test_sandbox.py)
test-classroom: .venv/test.stamp .venv/nbgrader.stamp
	TOYTF_DEEP=$(FULL) TOYTF_KILLS=$(if $(FULL),1000,100) $(PYTEST) -n auto --dist loadfile -o timeout=7200 \
		-o addopts="--strict-markers --strict-config -ra" $(HOSTILE:%=classroom/tests/%)
	$(PYTEST) -o addopts= classroom/tests/with_nbgrader classroom/tests/with_otter

test-torch: export OMP_NUM_THREADS = 1
test-torch: .venv-torch/torch.stamp
	$(if $(STORE),cd tests/with_torch && ../../.venv-torch/bin/python -m listings)
	.venv-torch/bin/python -m pytest -o addopts= tests/with_torch

test-matrix: .venv/test.stamp
	$(BIN)/python tests/matrix.py

# JupyterLab would ask whether it may fetch news; told once, it neither asks nor fetches.
lab: .venv/lab.stamp
	$(BIN)/jupyter labextension disable --level=sys_prefix "@jupyterlab/apputils-extension:announcements"
	$(BIN)/python book/lab/start.py

notebooks: .venv/book.stamp
	$(BIN)/python book/execute.py

text: .venv/book.stamp
	$(BIN)/python book/text.py

bench: .venv/test.stamp
	$(BIN)/python bench/speed.py toytf/course/data/bench.json

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/mypy
	@$(BIN)/mypy toytf | tail -n 1 | sed 's/^/with the folders, reported alone: /'
	$(BIN)/codespell
	$(BIN)/oxfmt --check "**/*.js"
	$(BIN)/oxlint --deny-warnings
	$(BIN)/actionlint -shellcheck $(BIN)/shellcheck
	$(BIN)/zizmor --offline --no-progress --quiet --strict-collection .github/workflows
	$(BIN)/shellcheck .ci/run
	@$(BIN)/python bench/rooms.py

# The lists are resolved together first, so that they agree with each other; what is locked now stays as it is unless
# UPGRADE says otherwise. The matrix has another NumPy; what starts in the browser, Pyodide's Python.
TOGETHER := book test lab nbgrader lite torch
LOCK := $(BIN)/uv pip compile --quiet --no-emit-index-url --no-header --no-annotate $(UPGRADE)
ANY := --universal --python-version 3.11
lock: .venv/test.stamp
	mkdir -p _build
	cat $(TOGETHER:%=requirements/%.txt) > _build/locked.txt
	$(LOCK) $(ANY) $(TOGETHER:%=--group %) -o _build/locked.txt
	for group in $(TOGETHER); do $(LOCK) $(ANY) --generate-hashes -c _build/locked.txt --group $$group \
		-o requirements/$$group.txt || exit 1; done
	$(LOCK) $(ANY) --generate-hashes --group matrix -o requirements/matrix.txt
	$(LOCK) --python-platform wasm32-pyodide2024 --python-version 3.14 --generate-hashes --group lite-kernel \
		-o requirements/lite-kernel.txt

# The same files give the same bytes: the time in them is that of the last commit.
dist: .venv/test.stamp
	rm -rf _build/dist
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} \
		$(BIN)/python -m build --no-isolation --outdir _build/dist

clean:
	rm -rf .venv .venv-torch .venv-lite _build .pytest_cache .hypothesis .mypy_cache
	find . -name __pycache__ -o -name .ruff_cache -o -name .ipynb_checkpoints | xargs rm -rf

# One environment for all; each stamp says that its list and the project itself are installed.
.venv/%.stamp: requirements/%.txt pyproject.toml classroom/pyproject.toml | .venv/pyvenv.cfg
	@echo "Installing requirements/$*.txt into .venv (once; a minute or two)"
	$(BIN)/python -m pip install --require-hashes -r $<
	$(BIN)/python -m pip install --no-deps --no-build-isolation -e . -e classroom
	@touch $@

# PyTorch has an environment of its own: the book and `make test` must do without it.
.venv-torch/torch.stamp: requirements/torch.txt pyproject.toml | .venv/pyvenv.cfg
	@echo "Installing PyTorch into .venv-torch (once; some minutes)"
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/python -m pip install --require-hashes -r $<
	.venv-torch/bin/python -m pip install torch==2.13.0  # no hash: each index has another build, for CUDA or without
	.venv-torch/bin/python -m pip install --no-deps --no-build-isolation -e .
	@touch $@

# JupyterLite takes every extension of JupyterLab that it finds beside it, so it has an environment without any.
.venv-lite/lite.stamp: requirements/lite.txt | .venv/pyvenv.cfg
	@echo "Installing requirements/lite.txt into .venv-lite (once; a minute)"
	$(PYTHON) -m venv .venv-lite
	.venv-lite/bin/python -m pip install --require-hashes -r $<
	@touch $@

.venv/pyvenv.cfg:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || { \
		echo "Python 3.11 or newer is needed; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)."; \
		echo "If another one is installed, name it: make book PYTHON=python3.13"; exit 1; }
	@$(PYTHON) -c "import ensurepip, venv" 2>/dev/null || { \
		echo "'$(PYTHON)' cannot make a virtual environment."; \
		echo "On Debian and Ubuntu: sudo apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv
