# Every target only calls Python (or .ci/run, which does): README's commands work without make.
.DEFAULT_GOAL := help
# The virtual environment of README's second command where it is there.
PYTHON ?= $(or $(wildcard .venv/bin/python),python3)

help: ## this list
	@python3 -c "import re; [print(f'{name:10} {what}') for name, what in re.findall(r'^(\w+):.*?## (.*)', open('Makefile').read(), re.M)]"
test: ## the default tests: no root, no GPU, no large download
	$(PYTHON) -m pytest
check: ## ruff and mypy
	$(PYTHON) -m ruff check . && $(PYTHON) -m ruff format --check . && $(PYTHON) -m mypy
fmt: ## format and sort imports
	$(PYTHON) -m ruff format . && $(PYTHON) -m ruff check --fix .
plans: ## write the golden plans anew; read the difference before you commit it
	$(PYTHON) -m tests.plans.golden
schema: ## write the JSON Schema of profiles anew
	$(PYTHON) -m launcher schema > schema/profile-1.schema.json
all: ## every stage, as CI runs them
	.ci/run

.PHONY: help test check fmt plans schema all
