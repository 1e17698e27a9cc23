# Every target only calls Python (or .ci/run, which does): README's commands work without make.
.DEFAULT_GOAL := help

help: ## this list
	@python3 -c "import re; [print(f'{name:10} {what}') for name, what in re.findall(r'^(\w+):.*?## (.*)', open('Makefile').read(), re.M)]"
test: ## the default tests: no root, no GPU, no large download
	python3 -m pytest
check: ## ruff and mypy
	python3 -m ruff check . && python3 -m ruff format --check . && python3 -m mypy
fmt: ## format and sort imports
	python3 -m ruff format . && python3 -m ruff check --fix .
plans: ## write the golden plans anew; read the difference before you commit it
	python3 -m tests.plans.golden
schema: ## write the JSON Schema of profiles anew
	python3 -m launcher schema > schema/profile-1.schema.json
all: ## every stage, as CI runs them
	.ci/run

.PHONY: help test check fmt plans schema all
