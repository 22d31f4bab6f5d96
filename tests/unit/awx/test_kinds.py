"""The playbook passes on each key of the data files, and awx.awx has each of them as an option."""

from __future__ import annotations

import functools
import importlib
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._awx.kinds import (
    KINDS,
    LINKS,
    NODE,
    Kind,
)

ROOT: t.Final = Path(__file__).resolve().parents[3]
MODULES: t.Final = "ansible_collections.awx.awx.plugins.modules"
Data = dict[str, t.Any]


class SpecificationError(Exception):
    """Carries the options of a module of awx.awx out of its `main`, which makes them."""


@functools.cache
def options(module: str) -> Data:
    """Return the options of a module of awx.awx, with their types and choices."""
    found: t.Any = importlib.import_module(f"{MODULES}.{module}")
    original = found.ControllerAPIModule

    def stop(argument_spec: Data, **_more: t.Any) -> t.NoReturn:
        raise SpecificationError(argument_spec)

    found.ControllerAPIModule = stop
    try:
        found.main()
    except SpecificationError as exc:
        spec: Data = exc.args[0]
        return spec
    finally:
        found.ControllerAPIModule = original
    raise AssertionError(module)


@functools.cache
def tasks() -> list[Data]:
    (play,) = yaml.safe_load((ROOT / "playbooks/awx_setup.yml").read_text())
    return [task for task in play["tasks"] if any(key.startswith("awx.awx.") for key in task)]


def module_of(task: Data) -> tuple[str, Data]:
    (found,) = [(key, value) for key, value in task.items() if key.startswith("awx.awx.")]
    return found[0].removeprefix("awx.awx."), found[1]


@pytest.mark.parametrize("title", KINDS)
def test_the_playbook_passes_on_every_key(title: str) -> None:
    kind = KINDS[title]
    (task,) = [task for task in tasks() if task["loop"] == f"{{{{ __gpu_awx.{title} | default([]) }}}}"]
    module, given = module_of(task)
    assert module == kind.module
    constant = {key for key, value in given.items() if "{{" not in str(value)}
    assert given.keys() - constant == set(kind.keys) - {kind.nodes}
    for key in given.keys() - constant:
        default = "" if key in kind.required else " | default(omit)"
        assert given[key] == f"{{{{ item.{key}{default} }}}}"


def test_the_playbook_passes_on_every_key_of_a_node() -> None:
    made, linked = [module_of(task)[1] for task in tasks() if NODE.module == module_of(task)[0]]
    shared = {"identifier", "workflow_job_template", "organization"}
    assert linked.keys() == {*LINKS, *shared}
    assert made.keys() | set(LINKS) == {*NODE.keys, *shared}


def test_the_playbook_makes_things_before_those_that_refer_to_them() -> None:
    order = list(KINDS)
    loops = [task["loop"] for task in tasks()]
    found = [next(number for number, loop in enumerate(loops) if f".{title} " in loop) for title in order]
    assert found == sorted(found)
    for title, kind in KINDS.items():
        assert all(order.index(other) < order.index(title) for other in kind.refers.values())


def test_a_credential_that_exists_is_left_as_it_is() -> None:
    """An update would replace its inputs, and with them the secrets that somebody set in AWX."""
    (given,) = [module_of(task)[1] for task in tasks() if module_of(task)[0] == "credential"]
    assert given["state"] == "exists"


@pytest.mark.parametrize("kind", [*KINDS.values(), NODE], ids=lambda kind: str(kind.module))
def test_awx_awx_has_every_key(kind: Kind) -> None:
    known = options(kind.module)
    assert set(kind.keys) - {kind.nodes} <= set(known)
    required = {key for key, option in known.items() if option.get("required")}
    assert required <= {*kind.required, "workflow_job_template"}
    several = {key for key in kind.refers if known[key].get("type") == "list"}
    assert several <= {"credentials", "labels", *(key for key in kind.refers if key.startswith("notif"))}
