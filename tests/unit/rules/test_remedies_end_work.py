# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A remedy that ends somebody's work says what ends, or that nothing does.

The test reads all remedies: those of the registry, and every text of the code.
"""

from __future__ import annotations

import ast
import importlib
import re
import types
import typing as t

import pytest
from unit.remedies.case import PLUGINS
from unit.rules.test_layers import FILES

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import CODES

# Kinds that `oc delete` takes away without an end of a pod that uses a device.
HARMLESS: t.Final = (
    "clusterqueues|configmap|installplan|job|limitrange|localqueues|machineautoscaler|priorityclass|"
    "resourceclaim|resourcequota|secret|subscription|useroauthaccesstokens"
)
# What ends work, or begins what does: a command, a setting, or words.
ACTIONS: t.Final = tuple(
    map(
        re.compile,
        (
            rf"oc delete (?!-n \S+ configmap|(?:{HARMLESS})\b|pod -n openshift-nfd )",
            r"oc adm drain (?!\S+ --dry-run)",
            r"oc (?:label|annotate) (?:node|baremetalhost)\b",
            r"oc patch (?!crd|clusterqueues)\S+",
            r"oc (?:scale (?!machineset)\S+|rollout|replace)\b",
            r"(?<!oc )(?<!should )\b[Dd]elete (?:th\w+ )?(?:pods?|ClusterPolicy|GPUCluster|them|it)\b",
            r"(?<!adm )(?<!can )(?<!would )\b(?:[Rr]eboot|[Dd]rain|[Rr]estart) (?:the (?!nfd)|it|NODE)",
            r"\bset \S*driver\.upgrade_policy|autoUpgrade: true|auto_upgrade: true",
            r"(?:delete_emptydir|evict_unmanaged|\bforce)\W+true|on_busy: drain|driver_change: allow(?!\))",
            r"\bremove the operator|state:? absent|gpu_repair: (?:replace|reboot)",
        ),
    )
)
# The sentence that has to be there, beside the command.
SAYS: t.Final = re.compile(r"\b(?:[Ee]nds?|is lost|are lost|lose|loses)\b")
_COMMAND: t.Final = re.compile(r"`[^`]*`")
# Commands alone: a function returns them, and the remedy that quotes one says what ends.
QUOTED: t.Final = {
    "oc delete clusterpolicy {} {}": "anew of _stack/clusterpolicy/manifest",
    "oc scale nodepool {cluster}-{name} -n HUB_NAMESPACE --replicas {number}": "make of _pools/machine_pools",
}


def silent(text: str, around: str = "") -> bool:
    """Return whether the text advises an action that ends work, and says nothing of that.

    around: the other texts of the function, which quotes a text that is a command alone.
    """
    if text in QUOTED or not any(one.search(text) for one in ACTIONS):
        return False
    said = _COMMAND.sub("", text)
    return not SAYS.search(said) and not (text.startswith("oc ") and SAYS.search(around))


def value(part: ast.expr, module: types.ModuleType) -> str:
    """Return a part of an f-string: what it says, the value of a constant, else `{}`."""
    found: t.Any = None
    if isinstance(part, ast.Constant):
        found = part.value
    elif isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name):
        found = getattr(module, part.value.id, None)
    elif isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Attribute):
        owner = part.value.value
        found = (
            getattr(getattr(module, owner.id, None), part.value.attr, None)
            if isinstance(owner, ast.Name)
            else None
        )
    return found if isinstance(found, str) else "{}"


def texts(part: ast.stmt, module: types.ModuleType) -> t.Iterator[str]:
    """Yield the texts of a statement, but no docstring."""
    joined = [one for one in ast.walk(part) if isinstance(one, ast.JoinedStr)]
    inner = {id(one) for whole in joined for one in whole.values}
    inner |= {id(one.value) for one in ast.walk(part) if isinstance(one, ast.Expr)}
    for whole in joined:
        yield "".join(value(one, module) for one in whole.values)
    for one in ast.walk(part):
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in inner:
            yield one.value


def remedies(name: str) -> t.Iterator[tuple[str, str]]:
    """Yield each text of a file, with all texts of the statement or function that has it."""
    module = importlib.import_module(f"{PLUGINS}.module_utils.{name.replace('/', '.')}")
    for top in ast.parse(FILES[name].read_text()).body:
        for part in top.body if isinstance(top, ast.ClassDef) else [top]:
            found = list(texts(part, module))
            around = " ".join(_COMMAND.sub("", one) for one in found)
            yield from ((one, around) for one in found)


def test_a_remedy_of_the_registry_says_what_it_ends() -> None:
    assert [code for code in CODES if silent(CODES[code].remedy)] == []


def test_a_remedy_in_the_code_says_what_it_ends() -> None:
    files = [name for name in FILES if not name.startswith("_core/codes")]
    assert [(name, one) for name in files for one, around in remedies(name) if silent(one, around)] == []


@pytest.mark.parametrize(
    ("text", "is_silent"),
    [
        ("Run `oc label node n nvidia.com/gpu-driver-upgrade.skip-`.", True),
        ("Run `oc label node n x-`: the operator then ends the pods with GPUs there.", False),
        ("Run `oc delete pod NAME -n ends`.", True),
        ("Run `oc delete resourcequota q -n team`.", False),
        ("Run `oc adm drain n --dry-run=client`.", False),
        ("Set gpu_operator_spec: {driver: {upgradePolicy: {autoUpgrade: true}}}.", True),
    ],
)
def test_a_silent_remedy_is_found(text: str, *, is_silent: bool) -> None:
    assert silent(text) is is_silent
