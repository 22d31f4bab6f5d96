# The only verbs. Each calls what it needs, all are safe to repeat, none needs root or a global install.
.DEFAULT_GOAL := help
.PHONY: setup demo test lint units sanity integration molecule bench docs build sandbox clean help
MAKEFLAGS += --no-print-directory

SCENARIO ?= aws
POOLS ?= examples/demo.yml
TESTS ?=
BENCH ?=

CHECKOUT := $(CURDIR)
VENV := $(CHECKOUT)/.venv
READY := $(VENV)/.ready
BIN := $(VENV)/bin
BUILD := $(CHECKOUT)/.build

export PATH := $(BIN):$(PATH)
export ANSIBLE_CONFIG := $(CHECKOUT)/ansible.cfg
export ANSIBLE_HOME := $(BUILD)/ansible-home
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_PREFER_BINARY := 1
export PYTHONDONTWRITEBYTECODE :=
unexport PYTHONPATH ANSIBLE_COLLECTIONS_PATH ANSIBLE_ROLES_PATH

setup: $(READY) ## make .venv with everything pinned (once; some minutes)

$(READY): requirements.txt requirements-dev.txt sandbox/pyproject.toml
	@python=; for one in python3.11 python3.12 python3.13 python3; do \
	  if $$one -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then python=$$one; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo 'setup: no Python 3.11, 3.12 or 3.13 with venv on PATH. Install one (for example: dnf install python3.11, or apt install python3.11-venv) and type make again.' >&2; exit 1; \
	fi; \
	echo "setup: making .venv with $$($$python --version); packages come from PyPI, nothing outside .venv changes"; \
	$$python -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --requirement requirements-dev.txt --requirement requirements.txt
	@$(BIN)/python -m pip install --quiet --editable sandbox
	@printf '#!/bin/sh\n# Molecule starts Ansible by name: the one beside it.\nexport PATH="%s:$$PATH"\nexec "%s/python" -m molecule "$$@"\n' '$(BIN)' '$(BIN)' > $(BIN)/molecule
	@touch $@
	@echo "setup: ready ($$($(BIN)/ansible --version | sed -n 1p))"

demo: setup ## a pool of GPU nodes on the sandbox, from nothing to validated; SCENARIO= and POOLS= choose
	@$(BIN)/sandbox build --scenario $(SCENARIO)
	@if [ -e .sandbox/scenario.json ] && ! grep -q '"name": "$(basename $(notdir $(SCENARIO)))"' .sandbox/scenario.json; then \
	  echo 'demo: another scenario is up, it makes way'; $(BIN)/sandbox down; \
	fi
	@$(BIN)/sandbox up --scenario $(SCENARIO)
	@echo 'demo: ansible-playbook playbooks/enable_gpus.yml -e @$(POOLS)'
	@KUBECONFIG=$$($(BIN)/sandbox env --path) $(BIN)/ansible-playbook playbooks/enable_gpus.yml -e @$(POOLS)
	@printf '\n%s\n%s\n%s\n' \
	  'The sandbox stays up. Look around:  export KUBECONFIG=$(CHECKOUT)/.sandbox/kubeconfig PATH=$(BUILD)/bin/control-plane:$$PATH; kubectl get nodes' \
	  'Run it again, nothing changes:      make demo$(if $(filter-out aws,$(SCENARIO)), SCENARIO=$(SCENARIO))$(if $(filter-out examples/demo.yml,$(POOLS)), POOLS=$(POOLS))' \
	  'Stop it, nothing is left:           $(BIN:$(CHECKOUT)/%=%)/sandbox down'

test: lint units sanity sandbox-build integration molecule ## all gates, in this order

lint: setup ## ruff, mypy, yamllint, ansible-lint (production), antsibull-docs and -changelog
	@tests/lint

units: setup ## unit tests, under 30 s; once more on the newest ansible-core where python3.13 is there
	@$(BIN)/pytest -q $(or $(TESTS),tests/unit)
	@tests/newest_core $(or $(TESTS),tests/unit)

sanity: setup ## ansible-test sanity, without an ignore file
	@tests/sanity/run

integration: setup sandbox-build build ## pytest on the sandbox, and the tarball installed elsewhere; TESTS= chooses
	@$(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder $(or $(TESTS),tests/contract tests/faults tests/integration tests/packaging)

molecule: setup sandbox-build ## every molecule scenario on a sandbox of its own
	@$(BIN)/molecule test --all

bench: setup sandbox-build ## measure beside kubernetes.core and kubectl, into benchmarks/ (half an hour); BENCH=--quick for the counts
	@$(BIN)/python benchmarks/harness.py $(BENCH)

docs: setup ## write docs/errors.md, and check the documentation of every plugin and role
	@PYTHONPATH=$(CHECKOUT)/.collections $(BIN)/python tests/documents/errors.py
	@GIT_CEILING_DIRECTORIES=$(CHECKOUT) $(BIN)/antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs self .

build: setup ## the collection's tarball, under .build/dist
	@$(BIN)/ansible-galaxy collection build --force --output-path $(BUILD)/dist

.PHONY: sandbox-build
sandbox-build: setup
	@$(BIN)/sandbox build

sandbox: sandbox-build ## build (once, about 13 minutes on two cores) and start the local control plane; SCENARIO= chooses
	@$(BIN)/sandbox up --scenario $(SCENARIO)

clean: ## stop the sandbox and remove everything that was made here
	@if [ -x $(BIN)/sandbox ]; then $(BIN)/sandbox down; fi
	rm -rf .venv .build .sandbox .cache .ansible .mypy_cache .pytest_cache .ruff_cache

help: ## this list
	@awk -F ':[^#]*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
