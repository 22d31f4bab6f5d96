# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reader copies works: YAML blocks and commands of pages, and EXAMPLES of modules."""

from __future__ import annotations

import importlib
import itertools
import re
import shlex
import textwrap
import typing as t
from pathlib import Path

import pages
import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from pages import MODULES, OURS, PLACEHOLDER, PLUGINS, PREFIX, ROOT
from unit import pool_builders

from ansible_collections.accelerators.openshift.plugins.module_utils._frame import nested
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _inputs

Data = dict[str, t.Any]
# Keys of candidates that begin as our variables do, and the variables of the rulebook.
ELSEWHERE: t.Final = {
    "gpu_memory_gib",
    "gpu_model",
    *re.findall(
        r"\bgpu_\w+", "\n".join(path.read_text() for path in ROOT.glob("extensions/eda/rulebooks/*.yml"))
    ),
}
YAML_BLOCKS: t.Final = [
    pytest.param(text, id=f"{page}-{number}") for number, (page, text) in enumerate(pages.blocks("yaml"))
]


def below(value: t.Any) -> t.Iterator[Data]:
    """Yield each mapping inside the value, and the value itself."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from below(item)


def is_open(value: t.Any) -> bool:
    """Return whether only a run, or the reader, knows the value."""
    return value == ["..."] or (isinstance(value, str) and "{{" in value)


def closed(value: t.Any) -> t.Any:
    """Return the value without the keys whose values are open."""
    if isinstance(value, dict):
        return {key: closed(item) for key, item in value.items() if not is_open(item)}
    return [closed(item) for item in value] if isinstance(value, list) else value


def check_pools(pools: list[Data], backend: str | None = None) -> None:
    planned = pool_builders.plan(pools, cloud=pages.cloud_of(pools), prefix="demo-x7k2p", backend=backend)
    assert [one["name"] for one in planned["pools"]] == [one["name"] for one in pools]


def check_variables(given: Data) -> None:
    """Fail if a variable with our prefix is unknown, or if the value is none that its role takes."""
    ours = {key: value for key, value in given.items() if key.startswith(_inputs._PREFIXES)}
    assert set(ours) - _inputs.known() - ELSEWHERE == set()
    said = closed(ours)
    _inputs.check(_inputs.Play("", frozenset(), False), said, said, lambda value: value)
    pools = said.get("gpu_pools", said.get("gpu_node_pool_pools"))
    if pools:
        check_pools(pools, said.get("gpu_backend"))


def check_task(task: Data) -> None:
    """Check the options of a task with a module of ours, but for templates."""
    for key, given in task.items():
        module = key.removeprefix(OURS)
        if module == key or not isinstance(given, dict):
            continue
        assert module in MODULES
        spec = importlib.import_module(f"{PREFIX}.modules.{module}").SPEC
        options = {
            option: {} if is_open(given.get(option)) else described
            for option, described in spec.options.items()
        }
        given = {key: item if is_open(item) else closed(item) for key, item in given.items()}
        assert nested.problems(options, given) == []
        assert ArgumentSpecValidator(options, **spec.constraints()).validate(given).error_messages == []
        if module == "gpu_plan" and not is_open(given["pools"]):
            check_pools(given["pools"])


def check(value: t.Any) -> None:
    for found in below(value):
        check_variables(found)
        check_task(found)
        if str(found.get("role", "")).startswith(OURS):
            assert (ROOT / "roles" / found["role"].removeprefix(OURS)).is_dir()


@pytest.mark.parametrize("text", YAML_BLOCKS)
def test_a_block_is_sound(text: str) -> None:
    for value in yaml.safe_load_all(textwrap.dedent(text)):
        check(value)
        if pool := pages.pool_of(value):
            check_pools([pool])


@pytest.mark.parametrize("plugin", [*(f"modules.{module}" for module in MODULES), *PLUGINS])
def test_the_examples_of_a_plugin_are_sound(plugin: str) -> None:
    for value in yaml.safe_load_all(pages.examples(plugin)):
        check(value)


COMMANDS: t.Final = pages.commands()


def given_by(words: list[str]) -> Data:
    """Return the variables that a command gives with -e; the files among them are there."""
    found: Data = {}
    for option, text in itertools.pairwise(words):
        if option not in ("-e", "--extra-vars"):
            continue
        if text.startswith("@examples/"):
            assert (ROOT / text[1:]).is_file()
        if text.startswith("{"):
            found |= yaml.safe_load(text)
        elif "=" in text:
            key, _equals, value = text.partition("=")
            found[key] = value
    return found


def filled(value: t.Any) -> t.Any:
    """Return the value, or raise an exception if the reader has to give it."""
    if PLACEHOLDER.search(str(value)):
        raise ValueError(value)
    return value


def check_playbook(words: list[str]) -> None:
    named = (word for word in words if word.startswith((OURS, "playbooks/", "examples/")))
    playbook = next(named, "")
    if not playbook or PLACEHOLDER.search(playbook):
        return
    stem = Path(playbook.removeprefix(OURS)).stem
    folder = "examples" if playbook.startswith("examples/") else "playbooks"
    assert (ROOT / folder / f"{stem}.yml").is_file()
    given = given_by(words)
    assert set(given) - _inputs.known() == set()
    needed = stem if given else ""
    _inputs.check(_inputs.Play(needed, frozenset(), False), given, given, filled)
    for option, value in itertools.pairwise(words):
        if option in ("--tags", "--skip-tags") and not PLACEHOLDER.search(value):
            assert set(value.split(",")) <= _inputs._tags()


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_a_command_names_what_is_there(page: str, command: str) -> None:
    words = [word for word in shlex.split(command, comments=True) if not re.match(r"[A-Z_]+=", word)]
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert [word for word in words[1:] if "=" not in word and word not in targets] == [], page
    elif words[0] == "ansible-doc":
        plugins = {*MODULES, *(plugin.partition(".")[2] for plugin in PLUGINS)}
        roles = {path.name for path in ROOT.glob("roles/*")}
        named = {word.removeprefix(OURS) for word in words if word.startswith(OURS)}
        assert {word for word in named if not PLACEHOLDER.search(word)} <= plugins | roles, page
    else:
        check_playbook(words)


def test_enough_was_found() -> None:
    assert min(len(YAML_BLOCKS), len(COMMANDS)) > 60
