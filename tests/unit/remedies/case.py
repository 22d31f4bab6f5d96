"""What shows that the variable of a remedy helps: a run that fails, and the same run with the variable."""

from __future__ import annotations

import importlib
import typing as t

import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from unit.rules.role_tasks import ROOT, options_of

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

Options = t.Mapping[str, t.Any]
PLUGINS: t.Final = "ansible_collections.accelerators.openshift.plugins"
# The value of a user who removes the variable.
LEFT_OUT: t.Final = "(left out)"


class Case(t.NamedTuple):
    """How a variable ends the failure with a code.

    module: the module whose options the roles' tasks compute from the variable, "any" for `module_defaults`,
    or a lookup, which reads the variable itself.
    run: calls the code of the module with these options over those of its setting; returns the code of the
    failure, or None.
    value: what the user writes, as YAML, if not what the remedy says, or LEFT_OUT.
    before: what the variable was when the run failed, as YAML, if the user had set it.
    where: the role or playbook whose task is meant, if several pass different values.
    then: the code of the next failure, if one comes.
    """

    module: str
    run: t.Callable[[Options], str | None]
    value: str = ""
    before: str = ""
    where: str = ""
    then: str | None = None


Cases = dict[tuple[str, str], Case]


def loaded(text: str) -> t.Any:
    """Return the value that a user writes as YAML."""
    return yaml.safe_load(text)


def checked(module: str, options: Options) -> t.Any:
    """Return the parameters of a module as Ansible checks them. Raise AssertionError for wrong options."""
    spec = importlib.import_module(f"{PLUGINS}.modules.{module}").SPEC
    result = ArgumentSpecValidator(dict(spec.options), **spec.constraints()).validate(dict(options))
    assert result.error_messages == [], result.error_messages
    return result.validated_parameters


def passed(case: Case, variable: str, user: Options) -> Options:
    """Return the options of the case's module or lookup that depend on a variable of this user."""
    if (ROOT / f"plugins/lookup/{case.module}.py").exists():
        lookup = importlib.import_module(f"{PLUGINS}.lookup.{case.module}")
        options = yaml.safe_load(lookup.DOCUMENTATION)["options"]
        read = {name: [one["name"] for one in about.get("vars", [])] for name, about in options.items()}
        return {name: user[one] for name, variables in read.items() for one in variables if one in user}
    return options_of(variable, dict(user), case.module, case.where)


def failure(call: t.Callable[[], object]) -> str | None:
    """Return the code of the failure that the call ends with, or None."""
    try:
        call()
    except AcceleratorError as exc:
        return exc.code
    return None


def ensured(module: str, api: Api, options: Options) -> str | None:
    """Call a module with these options. Return the code of its failure, or None."""
    ensure = importlib.import_module(f"{PLUGINS}.modules.{module}").ensure
    params = checked(module, options)
    return failure(lambda: ensure(api, params))
