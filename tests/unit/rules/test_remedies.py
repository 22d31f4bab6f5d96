# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A remedy names a command, or a setting that the user of a playbook can set."""

from __future__ import annotations

import functools
import re
import typing as t
from pathlib import Path

import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import CODES

ROOT: t.Final = Path(__file__).resolve().parents[3]
ROLES: t.Final = sorted(path.name for path in (ROOT / "roles").iterdir())
# Options of modules whose names say nothing to the user of a playbook.
OF_MODULES: t.Final = {
    "adopt",
    "allow_csvs",
    "delete_emptydir",
    "driver_change",
    "evict_unmanaged",
    "max_surge",
    "on_busy",
    "tolerations",
    "worker_tolerations",
}


@functools.cache
def role_options() -> set[str]:
    """Variables of roles that a user can set through enable_gpus.yml."""
    found: set[str] = set()
    for role in ROLES:
        specs = yaml.safe_load((ROOT / f"roles/{role}/meta/argument_specs.yml").read_text())
        found |= set(specs["argument_specs"]["main"]["options"])
    computed = yaml.safe_load((ROOT / "playbooks/gpu_variables/vars/main/role_inputs.yml").read_text())
    return found - set(computed)


@functools.cache
def of_the_guide() -> set[str]:
    section = (ROOT / "docs/guide.md").read_text().partition("## Variables of the playbooks")[2]
    return set(re.findall(r"^\| [^|]+ \| `(gpu_\w+)` \|", section.partition("\n## ")[0], re.MULTILINE))


def names(remedy: str) -> set[str]:
    """Return the settings in backticks, without their values."""
    return {
        found[1] for text in re.findall(r"`([^`]+)`", remedy) if (found := re.match(r"(\w+)(: .+)?$", text))
    }


def ours(name: str) -> bool:
    prefixes = tuple(f"{role}_" for role in ROLES)
    return name.startswith(("gpu_", *prefixes)) and name not in ("gpu_model", "gpu_memory_gib")


def test_every_variable_of_a_remedy_can_be_set_for_a_playbook() -> None:
    modules = {path.stem for path in (ROOT / "plugins").glob("*/gpu_*.py")}
    known = role_options() | of_the_guide() | modules
    named = {(code, name) for code in CODES for name in names(CODES[code].remedy) if ours(name)}
    assert {(code, name) for code, name in named if name not in known} == set()


def test_an_option_of_a_module_comes_with_the_variable_of_a_playbook() -> None:
    named = {code: names(CODES[code].remedy) for code in CODES}
    assert [code for code in CODES if named[code] & OF_MODULES and not any(map(ours, named[code]))] == []


def test_no_remedy_is_without_a_command_or_a_setting() -> None:
    assert [code for code in CODES if not re.search(r"`[^`]+`", CODES[code].remedy)] == []
