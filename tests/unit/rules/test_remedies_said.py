# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A message that says to set an option of a module names the variable of a playbook too.

The user of a playbook sets variables of roles.
"""

from __future__ import annotations

import ast
import re
import typing as t

from unit.rules.test_layers import FILES

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import CODES

# Options of modules that roles have as variables of other names.
OPTIONS: t.Final = (
    "adopt|allow_csvs|approve|approve_csrs|channel|create_namespaces|csv|delete_emptydir|driver_change|"
    "max_surge|on_busy|pci_classes|prove|source|strict|tolerations|wait_timeout|worker_tolerations"
)
_SAID: t.Final = re.compile(rf"\b(?:[Ss]et|[Rr]aise|or) ({OPTIONS})\b")
_NO_ROLE: t.Final = "every module has the option, so the message knows no role"
EXCUSED: t.Final = {
    "_frame/module": _NO_ROLE,
    "_kube/wait": _NO_ROLE,
    "_operators/upgrade_path": "channel is a key of gpu_upgrade_operators, which the remedy names",
}


def texts(tree: ast.Module) -> t.Iterator[str]:
    """Yield the texts of a file, but no docstring; `{}` stands for what an f-string computes."""
    joined = [one for one in ast.walk(tree) if isinstance(one, ast.JoinedStr)]
    inner = {id(part) for one in joined for part in one.values}
    statements = [one for one in ast.walk(tree) if isinstance(one, ast.Expr)]
    inner |= {id(one.value) for one in statements}
    for one in joined:
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in one.values)
    for part in ast.walk(tree):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in inner:
            yield part.value


def bare(text: str) -> list[str]:
    """Return the options that the text says to set without a variable of theirs."""
    return [one for one in _SAID.findall(text) if not re.search(rf"\w_{one}\b", text)]


def messages() -> t.Iterator[tuple[str, str]]:
    """Yield each file outside the registry of codes with each of its texts."""
    for name, path in FILES.items():
        if not name.startswith("_core/codes"):
            yield from ((name, text) for text in texts(ast.parse(path.read_text())))


def test_a_message_names_the_variable_of_an_option() -> None:
    found = [(name, text) for name, text in messages() if bare(text)]
    assert [(name, text) for name, text in found if name not in EXCUSED] == []


def test_a_text_of_a_code_names_the_variable_of_an_option() -> None:
    """Every module has wait_timeout, so this text knows no role."""
    found = {code.code for code in CODES.values() if bare(f"{code.message} {code.remedy}".replace("`", ""))}
    assert found == {"WAIT-TIMEOUT"}


# What a command can name: the pod, the node and the namespace that the failure is about.
_COMMAND: t.Final = re.compile(r"`[^`]+`|\b(?:oc|kubectl) \w[^`]*|-n NAMESPACE")
_UNNAMED: t.Final = re.compile(r"(?<![-\w$])(POD|NODE|NAMESPACE)(?![-\w])")
UNKNOWN: t.Final = {"_monitoring/querier": "the task does not know whose token it sends"}


def test_a_command_names_pod_node_and_namespace() -> None:
    found = [(name, command) for name, text in messages() for command in _COMMAND.findall(text)]
    unnamed = [(name, command) for name, command in found if _UNNAMED.search(command)]
    assert [(name, command) for name, command in unnamed if name not in UNKNOWN] == []


def test_a_command_of_a_code_names_pod_node_and_namespace() -> None:
    """A text with facts can name them, but for the node of an autoscaled pool, which the user chooses."""
    commands = {one.code: re.findall(r"`[^`]+`", one.remedy) for one in CODES.values() if one.names()}
    found = [code for code, remedy in commands.items() if any(map(_UNNAMED.search, remedy))]
    assert found == ["POOL-AUTOSCALED"]
    # Who knows the code of a pod's failure knows the pod.
    assert [one.code for one in CODES.values() if "POD" in re.findall(r"\w+", one.remedy)] == []


def test_a_text_without_the_variable_is_found() -> None:
    assert bare("Set adopt: take.") == ["adopt"]
    assert bare("Set gpu_operator_adopt: take (module option adopt), or set channel to {}.") == ["channel"]
    assert bare("Set gpu_node_pool_max_surge (module option max_surge) to {}.") == []
