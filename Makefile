# `make help` lists what can be made. Everything the site needs happens in the Sphinx build
# (_config.yml and book/_ext), so that the README's plain lines do the same without make.

PYTHON ?= python3
BIN := .venv/bin
BUILD := $(BIN)/jupyter-book build . -W -n --keep-going --all
# SOLUTIONS=no leaves them out, and builds into a folder of its own.
SOLUTIONS ?= yes
SITE := $(if $(filter no,$(SOLUTIONS)),_build/without-solutions/)_build/html
LISTS := book paper test lab lite nbgrader torch lock
LOCK := _build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 \
	--no-emit-index-url --no-header --no-annotate $(UPGRADE)

# JupyterLab would ask whether it may fetch news; with this file it neither asks nor fetches.
QUIET_LAB := .venv/etc/jupyter/labconfig/page_config.json

.DEFAULT_GOAL := help
.PHONY: help book pdf epub offline lite slides test check dist assignments test-classroom test-torch torch-results test-matrix test-deep test-products bench bench-course weights experiments lab notebooks text lint lock clean

help:
	@echo "make book       build the book's site in _build/html"
	@echo "make book SOLUTIONS=no  the same without any solution of an exercise, in _build/without-solutions/_build/html"
	@echo "make pdf        the book on paper, in _build/paper (PAPER=letter: on that paper; needs Chromium)"
	@echo "make epub       the book for e-readers, in _build/paper; EPUBCheck checks it where Java is installed"
	@echo "make offline    the site as one zip, in _build/paper, to be opened from the disk"
	@echo "make conf.py    what Jupyter Book tells Sphinx, so that 'sphinx-build . out' builds the book too"
	@echo "make test       compute every number again and compare; test the package and the site"
	@echo "make check      style, types, imports, and the tests of the arithmetic: what one runs between two edits"
	@echo "make lite       the notebooks with a Python in the browser, in _build/lite (readers need a network)"
	@echo "make slides     slides for each chapter, of the same text, in _build/slides"
	@echo "make lab        open the notebooks in JupyterLab"
	@echo "make notebooks  make the notebooks of their texts in book/chapters and book/pages, and execute them"
	@echo "make text       bring what was edited in JupyterLab back to the texts"
	@echo "make weights    train the translator that the chapters from 16 on open (a few seconds)"
	@echo "make experiments  run what chapters 18 and 19 report, those that are missing (up to an hour)"
	@echo "make dist       the package as a wheel and as its source, in _build/dist"
	@echo "make assignments  a student's and an instructor's notebook for each chapter, in _build/assignments"
	@echo '                (EXERCISES="9.1 9.7 8.8" TITLE="Week 6" OUT=week6: of these; CHAPTERS="8 9"; FORCE=--force)'
	@echo "make test-products  makes what is published, each thing whole, and opens it (what needs Java is skipped without)"
	@echo "make test-classroom  every attack on the grader that we know of, kills at random moments, an assignment through nbgrader"
	@echo "                (a few minutes; FULL=1: thousands of odd names, damaged notebooks and forged replies)"
	@echo "make test-torch installs PyTorch into .venv-torch; the same numbers there, forward and back"
	@echo "make torch-results  run the PyTorch of chapters 20 and 22 again and store what it gives"
	@echo "make test-matrix  the notebooks' numbers and the tests of the arithmetic under other processors' instructions, another NumPy, other seeds"
	@echo "make test-deep  every property with thousands of random calls, every checker and wrong call at full length"
	@echo "make bench      toytf beside PyTorch; how cost grows (ten minutes)"
	@echo "make bench-course  what each page costs its readers, in Chromium with a slow processor, how long each chapter's line is, and which goals are missed"
	@echo "make lint       style of the code, spelling of the text"
	@echo "make lock       make requirements/*.txt again from *.in (UPGRADE=--upgrade for newer versions)"
	@echo "make clean      remove everything that make made"
	@echo
	@echo "Each installs what it needs into .venv the first time."
	@echo "Another Python: make book PYTHON=python3.13"

book: .venv/book.stamp
	TOYTF_SOLUTIONS=$(SOLUTIONS) $(BUILD)$(if $(filter no,$(SOLUTIONS)), --path-output _build/without-solutions)
	@echo
	@echo "The book is built. Open it from the disk:  $(SITE)/index.html"
	@echo "or serve it:  $(BIN)/python -m http.server --bind 127.0.0.1 --directory $(SITE)"
	@echo "              and open http://127.0.0.1:8000"

# What is made of the built pages, in a folder of its own, without solutions too.
PAPER ?= a4
PRESS := _build/$(if $(filter no,$(SOLUTIONS)),without-solutions/)paper
pdf: .venv/paper.stamp book
	$(BIN)/python book/forms/make.py pdf --site $(SITE) --out $(PRESS) --paper $(PAPER)

epub: .venv/paper.stamp book
	$(BIN)/python book/forms/make.py epub --site $(SITE) --out $(PRESS)

offline: book
	$(BIN)/python book/forms/make.py zip --site $(SITE) --out $(PRESS)

conf.py: _config.yml book/sphinx_settings.py .venv/book.stamp
	$(BIN)/python book/sphinx_settings.py
	@touch $@

# A worker for each core and one more; the tests of one file stay together, since a notebook's cells need one kernel.
# How many, and which files come first: tests/conftest.py.
# Hundreds of Pythons are started: each may keep what it compiled, whatever the machine's settings say.
test test-classroom test-deep test-products: export PYTHONDONTWRITEBYTECODE =
test: .venv/test.stamp
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# What one runs between two edits: less than a minute on two cores.
CHECK := toytf check/test_mistakes.py byhand/test_byhand.py $(patsubst %,test_%.py,text architecture)
check: lint
	$(BIN)/python -m pytest -q -n auto --dist loadfile -o addopts="--strict-markers --strict-config" $(CHECK:%=tests/%)

lite: .venv/book.stamp .venv-lite/lite.stamp
	TOYTF_SOLUTIONS=$(SOLUTIONS) $(BIN)/python book/forms/make.py lite --out _build

# Of the built pages; they hold no solution either way.
slides: book
	$(BIN)/python book/forms/make.py slides --site $(SITE) --out _build

lab: .venv/lab.stamp $(QUIET_LAB)
	$(BIN)/python book/lab/start.py

notebooks: .venv/book.stamp
	$(BIN)/python book/execute.py

text: .venv/book.stamp
	$(BIN)/python book/text.py

weights: .venv/book.stamp
	$(BIN)/toytf train --out toytf/data/translator.npz

experiments: .venv/book.stamp
	$(BIN)/python bench/experiments.py toytf/course/data/experiments.json

# The same files give the same bytes: the time in them is that of the last commit.
dist: .venv/test.stamp
	rm -rf _build/dist
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} \
		$(BIN)/python -m build --no-isolation --outdir _build/dist

# CHAPTERS="8 9": some of them; EXERCISES="9.1 9.7 8.8" TITLE="Week 6": one assignment. OUT=..., FORCE=--force.
OUT ?= _build/assignments
assignments: .venv/book.stamp
	$(BIN)/toytf-classroom assign --out $(OUT) $(if $(TITLE),--title "$(TITLE)") $(FORCE) \
		$(if $(EXERCISES),--exercises $(EXERCISES),--apart $(if $(CHAPTERS),--chapters $(CHAPTERS)))

test-torch: .venv-torch/torch.stamp
	OMP_NUM_THREADS=1 .venv-torch/bin/python -m pytest -o addopts= tests/with_torch

torch-results: .venv-torch/torch.stamp
	cd tests/with_torch && OMP_NUM_THREADS=1 ../../.venv-torch/bin/python -m listings

test-matrix: .venv/test.stamp
	$(BIN)/python tests/matrix.py

# What `make test` does with a hundred or so examples, here with all of them.
DEEP := tests/toytf/test_properties.py tests/check/test_checkers.py
test-deep: .venv/test.stamp
	TOYTF_DEEP=1 $(BIN)/python -m pytest -o addopts="--strict-markers --strict-config -ra" -o timeout=3600 $(DEEP)

# Not in `make test`: attacks run only where somebody asks for them. FULL=1: at full length.
HOSTILE := with_attacks $(if $(FULL),test_strangers.py test_fuzz.py test_grade.py test_sandbox.py)
test-classroom: .venv/test.stamp .venv/nbgrader.stamp
	TOYTF_DEEP=$(FULL) $(BIN)/python -m pytest -n auto --dist loadfile $(if $(FULL),-o timeout=3600) \
		-o addopts="--strict-markers --strict-config -ra" $(HOSTILE:%=classroom/tests/%)
	$(BIN)/python classroom/tests/kills.py $(if $(FULL),1000,100)
	$(BIN)/python -m pytest -o addopts= classroom/tests/with_nbgrader

test-products: .venv/test.stamp .venv/paper.stamp
	$(BIN)/python -m pytest -o addopts="--strict-markers --strict-config -ra" tests/with_products

bench: .venv-torch/torch.stamp
	.venv-torch/bin/python bench/speed.py toytf/course/data/bench.json

bench-course: .venv/test.stamp
	$(BIN)/python bench/course.py

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

$(QUIET_LAB): .venv/lab.stamp
	$(BIN)/jupyter labextension disable --level=sys_prefix "@jupyterlab/apputils-extension:announcements"
	@touch $@

# One environment for all; each stamp says that its lock and the project itself are installed.
.venv/%.stamp: requirements/%.txt pyproject.toml classroom/pyproject.toml | .venv/pyvenv.cfg
	@echo "Installing requirements/$*.txt into .venv (once; a minute or two)"
	$(BIN)/python -m pip install --require-hashes -r $<
	$(BIN)/python -m pip install --no-deps --no-build-isolation -e . -e classroom
	@touch $@

# PyTorch has an environment of its own: the book and `make test` must do without it. Only a build
# for CUDA asks for torch-cuda.txt (gigabytes), and `pip check` tells whether this is one.
.venv-torch/torch.stamp: $(wildcard requirements/torch*.txt) pyproject.toml | .venv/pyvenv.cfg
	@echo "Installing requirements/torch*.txt into .venv-torch (once; some minutes)"
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/python -m pip install --require-hashes -r requirements/torch.txt
	.venv-torch/bin/python -m pip install --no-deps -r requirements/torch-itself.txt  # no hash: the file says why
	.venv-torch/bin/python -m pip check >/dev/null || \
		.venv-torch/bin/python -m pip install --require-hashes -r requirements/torch-cuda.txt
	.venv-torch/bin/python -m pip check
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

# The lists are resolved together first, so that the locks agree with each other; what is locked
# now stays as it is unless UPGRADE says otherwise.
lock: _build/lock/bin/uv
	cat requirements/*.txt > _build/lock/all.txt
	$(LOCK) $(LISTS:%=requirements/%.in) -o _build/lock/all.txt
	for name in $(LISTS); do \
		$(LOCK) --generate-hashes -c _build/lock/all.txt requirements/$$name.in \
			-o requirements/$$name.txt || exit 1; done
	$(LOCK) --generate-hashes requirements/matrix.in -o requirements/matrix.txt  # another NumPy, so on its own
	$(subst --universal --python-version 3.11,--python-platform wasm32-pyodide2024 --python-version 3.14,$(LOCK)) \
		--generate-hashes requirements/lite-kernel.in -o requirements/lite-kernel.txt  # runs on Pyodide's Python
	$(LOCK) --generate-hashes -c _build/lock/all.txt requirements/torch-itself.txt -o requirements/torch-cuda.txt \
		--no-emit-package torch $$(sed -n 's/^\([^ =#]*\)==.*/--no-emit-package \1/p' requirements/torch.txt)

_build/lock/bin/uv: requirements/lock.txt
	$(PYTHON) -m venv _build/lock
	_build/lock/bin/python -m pip install --require-hashes -r $<
	@touch $@

clean:
	rm -rf .venv .venv-torch .venv-lite _build .pytest_cache .hypothesis
	find . -name __pycache__ -o -name .ruff_cache -o -name .ipynb_checkpoints | xargs rm -rf
