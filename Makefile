# The only verbs. Each calls what it needs, all are safe to repeat, none needs root or a global install.
.DEFAULT_GOAL := help
.PHONY: setup demo test test-all lint units units-here units-oldest units-newest sanity integration molecule bench docs docs-site troubles changelog build sandbox clean help
MAKEFLAGS += --no-print-directory

SCENARIO ?= aws
POOLS ?= examples/demo.yml
# Where make demo writes its report.
DEMO := .build/demo
TESTS ?=
BENCH ?=
KEY ?=

# make takes a space for the end of a name, and a shell reads the others.
ODD := : ; & | < > ( ) ' " ` * ?
ifneq (,$(word 2,$(CURDIR))$(strip $(foreach one,$(ODD),$(findstring $(one),$(CURDIR)))))
$(error make cannot work in a path with a space or one of $(ODD): move the checkout to another path than "$(CURDIR)")
endif

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
# Most of the thousands of modules that come with Ansible are never imported.
export PIP_COMPILE := 0
export PIP_PREFER_BINARY := 1
export PYTHONDONTWRITEBYTECODE :=
# Ansible refuses any other encoding; cron and bare containers have LC_ALL=C.
ifneq ($(shell locale charmap 2>/dev/null),UTF-8)
export LC_ALL := C.UTF-8
endif
unexport PYTHONPATH ANSIBLE_COLLECTIONS_PATH ANSIBLE_ROLES_PATH

# A distribution builds its Python with profile-guided optimization, pyenv does not: the tests take a third longer there.
PYTHONS := /usr/bin/python3.11 /usr/bin/python3.12 /usr/bin/python3.13 python3.11 python3.12 python3.13 python3

setup: $(READY) ## make .venv with everything pinned (once; some minutes); PYTHONS= chooses

$(READY): requirements.txt requirements-dev.txt sandbox/pyproject.toml
	@python=; for one in $(PYTHONS); do \
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
	@version=$$($(BIN)/ansible --version) && touch $@ && echo "setup: ready ($${version%%]*}])"

demo: setup ## a pool of GPU nodes on the sandbox, from nothing to validated; SCENARIO= and POOLS= choose
	@$(BIN)/sandbox build --scenario $(SCENARIO)
	@if [ -e .sandbox/scenario.json ] && ! grep -q '"name": "$(basename $(notdir $(SCENARIO)))"' .sandbox/scenario.json; then \
	  echo 'demo: another scenario is up, it makes way'; $(BIN)/sandbox down; \
	fi
	@$(BIN)/sandbox up --scenario $(SCENARIO)
	@echo 'demo: about a minute; the sandbox plays cloud and GPUs, so no figure below is a measurement'
	@echo 'demo: ansible-playbook playbooks/enable_gpus.yml -e @$(POOLS) -e gpu_report_dir=$(DEMO)'
	@kubeconfig=$$($(BIN)/sandbox env --path) || exit 1; \
	KUBECONFIG=$$kubeconfig $(BIN)/ansible-playbook playbooks/enable_gpus.yml -e @$(POOLS) -e gpu_report_dir=$(DEMO); \
	ended=$$?; printf '\n%s\n' 'The report, for a browser:          $(CHECKOUT)/$(DEMO)/report.html'; exit $$ended
	@printf '%s\n%s\n%s\n' \
	  'The sandbox stays up. Look around:  export KUBECONFIG=$(CHECKOUT)/.sandbox/kubeconfig PATH=$(BUILD)/bin/control-plane:$$PATH; kubectl get nodes' \
	  'Run it again, nothing changes:      make demo$(if $(filter-out aws,$(SCENARIO)), SCENARIO=$(SCENARIO))$(if $(filter-out examples/demo.yml,$(POOLS)), POOLS=$(POOLS))' \
	  'Stop it, nothing is left:           $(BIN:$(CHECKOUT)/%=%)/sandbox down'

# Tests on sandboxes wait for half of their time: two cores have time for three of them.
WORKERS ?= 3
# What make test leaves to make test-all: tests that carry the mark `long`.
CHOICE ?= -m 'not long'
# The two unit tests compare options with the CRDs that the build of the sandbox collects.
ON_SANDBOX := tests/integration tests/contract tests/faults tests/packaging tests/tuned tests/promql tests/browser \
  $(addprefix tests/unit/stack/,clusterpolicy/test_options.py nvidiadriver/test_options.py)
STARTED := $(shell date +%s)
PASSED = printf 'All gates passed in %d minutes.\n' $$(( ($$(date +%s) - $(STARTED) + 59) / 60 ))

# Most gates need one core for minutes; what one says comes when it has ended.
test: setup ## what continuous integration runs: every gate, without the long tests and scenarios
	@$(MAKE) --jobs=2 --output-sync=target sanity lint units
	@$(MAKE) integration
	@$(PASSED)

test-all: export CHOICE =
test-all: export PROGRAMS = --with kueue,prometheus,registry
test-all: export ON_newest = $(ON_OTHER_CORES) --ignore=tests/unit/rules
test-all: export FUZZ_ROUNDS ?= 5000
test-all: export CORES = --all
test-all: test ## every gate, with the long tests and every molecule scenario

lint: setup ## ruff, mypy, yamllint, ansible-lint (production), antsibull-docs and -changelog
	@tests/lint

# awx.awx, with which three files compare, comes with the package ansible; the other cores are there without it.
AWX_AWX := test_kinds.py test_shipped_data.py test_stand_in.py
ON_OTHER_CORES := tests/unit $(addprefix --ignore=tests/unit/awx/,$(AWX_AWX))
# Neither the sandbox nor the rules of the repository depend on ansible-core, and the cases of remedies and the test of
# entry points render tasks as 2.19 and newer do; but make test-all runs the sandbox and the cases on the newest Python.
WITHOUT_CORE := $(addprefix --ignore=tests/unit/,rules sandbox remedies test_entry_points.py)
ON_oldest := $(ON_OTHER_CORES) $(WITHOUT_CORE)
ON_newest ?= $(ON_oldest)

units: units-here units-oldest units-newest ## unit tests; once more on the oldest and the newest ansible-core, where their Pythons are there

units-here: setup
	@$(BIN)/pytest -q -n 2 $(or $(TESTS),tests/unit)

units-oldest units-newest: units-%: setup
	@tests/other_core $* $(or $(TESTS),$(ON_$*))

sanity: setup ## ansible-test sanity, without an ignore file; in make test-all on each supported ansible-core
	@tests/sanity/run $(CORES)

# Without root its test is skipped, and says so.
.PHONY: chromium
chromium:
	@command -v chromium >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
	  { apt-get -qq update && apt-get -qq --yes --no-install-recommends install chromium fonts-liberation; } >/dev/null || \
	  echo 'chromium: it cannot be installed, the test of the report in a browser is skipped'

integration: setup sandbox-build build chromium ## pytest on the sandbox, and the tarball installed elsewhere; TESTS= chooses, long tests too
	@$(BIN)/pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=10 $(if $(TESTS),$(TESTS),$(CHOICE) $(ON_SANDBOX))

SCENARIOS := tests/integration/scenarios/test_molecule.py
molecule: ## every molecule scenario on a sandbox of its own, WORKERS= at a time; PLAYED= names some
	@for one in $(PLAYED); do [ -e "molecule/$$one/molecule.yml" ] || \
	  { echo "molecule: PLAYED has $$one, which is no scenario; choose from:" $$(ls molecule) >&2; exit 1; }; done
	@$(MAKE) integration TESTS='$(or $(PLAYED:%=$(SCENARIOS)::test_scenario[%]),$(SCENARIOS))'

bench: setup sandbox-build ## measure beside kubernetes.core and kubectl, into benchmarks/ (half an hour); BENCH=--quick for the counts
	@$(BIN)/python benchmarks/harness.py $(BENCH)

docs: setup rbac ## write docs/errors.md, docs/known-texts.md and rbac/, and check the documentation of every plugin and role
	@PYTHONPATH=$(CHECKOUT)/.collections $(BIN)/python tests/documents/errors.py
	@PYTHONPATH=$(CHECKOUT)/.collections $(BIN)/python tests/documents/known_texts.py
	@GIT_CEILING_DIRECTORIES=$(CHECKOUT) $(BIN)/antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs self .

docs-site: setup ## build the documentation as a site under .build/docs/html; fails for a warning or a broken reference
	@docs/site/build

troubles: setup sandbox-build ## stage each pain that people report, and write what diagnose.yml says of it into docs/troubles.md (15 minutes)
	@$(BIN)/pytest -q --record tests/integration/troubles/test_diagnosis.py tests/integration/troubles/test_elsewhere.py

.PHONY: rbac
rbac: setup
	@PYTHONPATH=$(CHECKOUT)/.collections $(BIN)/python tests/documents/rights.py

.PHONY: ee-requirements
ee-requirements: setup
	@$(BIN)/python tests/documents/ee_requirements.py

changelog: setup ## take changelogs/fragments into CHANGELOG.rst, for the version in galaxy.yml
	@GIT_CEILING_DIRECTORIES=$(CHECKOUT) $(BIN)/antsibull-changelog release --reload-plugins --refresh-plugins --update-existing

build: setup rbac ## the collection's tarball and its SBOM, under .build/dist; KEY= signs them with gpg
	@$(BIN)/ansible-galaxy collection build --force --output-path $(BUILD)/dist
	@$(BIN)/python tests/documents/release.py "$$(ls -t $(BUILD)/dist/*.tar.gz | head -1)" $(KEY)

.PHONY: sandbox-build
sandbox-build: setup
	@$(BIN)/sandbox build $(PROGRAMS)

sandbox: sandbox-build ## build (once, 7 to 13 minutes on two cores) and start the local control plane; SCENARIO= chooses
	@$(BIN)/sandbox up --scenario $(SCENARIO)

clean: ## stop the sandbox and remove everything that was made here
	@if [ -x $(BIN)/sandbox ]; then $(BIN)/sandbox down; fi
	rm -rf .venv .build .sandbox .cache .ansible .mypy_cache .pytest_cache .ruff_cache

help: ## this list
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
