"""The registry of error codes: it has every code that the collection returns, and docs/errors.md shows it."""

from __future__ import annotations

import ast
import collections
import importlib
import re
import typing as t
from pathlib import Path

import pytest
import yaml
from documents import errors as page

from ansible_collections.accelerators.openshift.plugins.module_utils._core import errors
from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import (
    CODES,
    SECTIONS,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    LAYERS,
    AcceleratorError,
    layer_of,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Field
from ansible_collections.accelerators.openshift.plugins.module_utils._networks.schema import FIELDS as NETWORK
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.schema import POOL
from ansible_collections.accelerators.openshift.plugins.plugin_utils._inputs import OF_ACTION

ROOT = Path(__file__).resolve().parents[3]
PLUGINS = ROOT / "plugins"
REGISTRY = PLUGINS / "module_utils/_core/codes"
PREFIX = "ansible_collections.accelerators.openshift.plugins"
PACKAGE = f"{PREFIX}.module_utils._core.codes"
ERRORS = Path(errors.__file__).resolve()
CODE = re.compile(rf"(?:{'|'.join(sorted(LAYERS))})-[A-Z0-9-]*[A-Z0-9]|INTERNAL")
PROGRAMS = {
    "ansible",
    "ansible-doc",
    "ansible-playbook",
    "echo",
    "helm",
    "oc",
    "oc-mirror",
    "openstack",
    "pip",
    "podman",
    "virtctl",
}
# Fields of API objects, and names of environment variables.
ELSEWHERE = re.compile(r"(spec|metadata)\.[\w.]+|[A-Z0-9_]+")
NAMED = re.compile(r"`([^`]+)`")
# A sentence may begin with the path of an option, and end with an answer that it quotes.
SENTENCES = re.compile(r"([A-Z`]|[a-z_]+[\[:]|ansible-|nfd-|nvidia-)(?!.*  ).*(\.|: ANSWER)")


class Literal(t.NamedTuple):
    """A code written in a plugin. raises: not only compared with, so that a task can fail with it."""

    code: str
    where: str
    raises: bool


def sources() -> dict[Path, ast.Module]:
    """Return every plugin's syntax tree, but for the registry itself and the table of layers."""
    paths = (
        path for path in sorted(PLUGINS.rglob("*.py")) if path != ERRORS and REGISTRY not in path.parents
    )
    return {path: ast.parse(path.read_text()) for path in paths}


SOURCES = sources()


def literals(path: Path, node: ast.AST, is_compared: bool = False) -> t.Iterator[Literal]:
    """Find the codes below a node: arguments, entries of tables, and constants alike."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
        yield Literal(node.value, where(path, node), not is_compared)
    for inner in ast.iter_child_nodes(node):
        yield from literals(path, inner, is_compared or isinstance(node, ast.Compare))


def error_classes() -> set[str]:
    """Return the names of AcceleratorError and everything that derives from it, in whatever file."""
    found = {AcceleratorError.__name__}
    trees = [*SOURCES.values(), ast.parse(ERRORS.read_text())]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bases = {one.name: {name_of(base) for base in one.bases} for one in classes}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def passed_codes(tree: ast.AST) -> t.Iterator[ast.Constant]:
    """Find what stands where a code belongs: first argument of an error or a problem, `code=`, key `code`."""
    for node in ast.walk(tree):
        candidates: list[ast.expr | None] = []
        if isinstance(node, ast.Call):
            is_error = called(node) in CLASSES or is_problem(node)
            candidates += node.args[:1] if is_error else []
            candidates += [one.value for one in node.keywords if one.arg in ("code", "on_timeout_code")]
        elif isinstance(node, ast.Dict):
            candidates.append(value_of(node, "code"))
        yield from (one for one in candidates if isinstance(one, ast.Constant) and one.value)


def called(node: ast.Call) -> str:
    return name_of(node.func)


def name_of(node: ast.expr) -> str:
    """Return the last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_problem(node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and called(node) == "add"
        and name_of(node.func.value) == "problems"
    )


def value_of(node: ast.Dict, name: str) -> ast.expr | None:
    pairs = zip(node.keys, node.values, strict=True)
    return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == name), None)


def where(path: Path, node: ast.expr | ast.stmt) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


CLASSES = error_classes()
FOUND = [one for path, tree in SOURCES.items() for one in literals(path, tree)]


def test_the_search_finds_codes() -> None:
    assert len(FOUND) > 500
    assert {"NotReadyError", "MachineError", "ConflictError"} <= CLASSES


def test_every_code_is_registered() -> None:
    assert [f"{one.where}: {one.code}" for one in FOUND if one.code not in CODES] == []


def test_what_is_passed_as_a_code_is_registered() -> None:
    """A code of an unknown area, or one with a spelling mistake, is found as well."""
    passed = [(path, one) for path, tree in SOURCES.items() for one in passed_codes(tree)]
    assert len(passed) > 300
    assert [f"{where(path, one)}: {one.value!r}" for path, one in passed if one.value not in CODES] == []


def test_every_registered_code_is_raised() -> None:
    assert CODES.keys() - {one.code for one in FOUND if one.raises} == set()


def test_a_code_is_registered_once() -> None:
    counted = collections.Counter(one.code for _title, codes in SECTIONS for one in codes)
    assert [code for code, number in counted.items() if number > 1] == []


def test_every_code_belongs_to_an_area() -> None:
    assert [code for code in CODES if not CODE.fullmatch(code)] == []
    assert {layer_of(code) for code in CODES} == set(LAYERS.values())


def test_every_exception_to_the_areas_is_a_registered_code_and_needed() -> None:
    for code, layer in errors._ELSEWHERE.items():
        assert code in CODES
        assert LAYERS[code.partition("-")[0]] != layer


@pytest.mark.parametrize("name", sorted(set(dir(errors)) & CLASSES))
def test_the_layer_of_a_failure_comes_from_its_code_alone(name: str) -> None:
    error = getattr(errors, name)("MACH-CAPACITY", "No capacity.")
    assert (error.layer, error.to_result()["layer"]) == ("machine", "machine")
    error.code = "QUOTA-KEY"
    assert error.to_result()["layer"] == "input"


def test_no_plugin_chooses_a_layer() -> None:
    chosen = [where(path, one) for path, tree in SOURCES.items() for one in chosen_layers(tree)]
    assert chosen == []


def chosen_layers(tree: ast.AST) -> t.Iterator[ast.expr | ast.stmt]:
    """Find layers that do not follow from the code: of an error, of its class, or in a result."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in CLASSES:
            yield from (one.value for one in node.keywords if one.arg == "layer")
        elif isinstance(node, ast.ClassDef) and node.name in CLASSES:
            yield from (one for one in node.body if isinstance(one, (ast.Assign, ast.AnnAssign)))
        elif isinstance(node, ast.Dict):
            code, layer = value_of(node, "code"), value_of(node, "layer")
            if isinstance(code, ast.Constant) and isinstance(layer, ast.Constant):
                yield from [layer] if layer.value != layer_of(str(code.value)) else []


def test_a_code_is_in_the_file_of_its_area() -> None:
    areas = {code: code.partition("-")[0].lower() for code in CODES}
    files = {area: importlib.import_module(f"{PACKAGE}.{area}").CODES for area in set(areas.values())}
    assert [code for code, area in areas.items() if CODES[code] not in files[area]] == []


def named_facts(tree: ast.AST) -> t.Iterator[tuple[ast.expr, str, set[str] | None]]:
    """Find what fills in the text of a code: its place, the code, and the facts; None has its own text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(code := node.args[0], ast.Constant):
            known = 2 if is_problem(node) else 1
            is_text = called(node) in (*CLASSES, "text_of", "about_node") or is_problem(node)
            keywords = {keyword.arg for keyword in node.keywords if keyword.arg}
            keywords |= {"path"} if is_problem(node) else set()
            if is_text and code.value in CODES:
                own = len(node.args) > known or "message" in keywords
                yield node, str(code.value), None if own else keywords - NO_FACTS


# Parameters of errors that are no facts of a text.
NO_FACTS: t.Final = {"evidence", "facts", "reason", "remedy", "status"}


def test_a_failure_names_the_facts_of_its_text() -> None:
    wrong = []
    for path, tree in SOURCES.items():
        for node, code, facts in named_facts(tree):
            needed = CODES[code].names()
            if facts is None:
                wrong += [f"{where(path, node)}: {code} has its text twice"] if needed else []
            elif facts | {"also"} != needed | {"also"}:
                wrong.append(f"{where(path, node)}: {code} needs {sorted(needed)}")
    assert wrong == []


def test_the_page_shows_the_registry() -> None:
    assert page.PAGE.read_text() == page.page(), f"docs/errors.md is out of date: run `{page.COMMAND}`"


def test_the_page_has_the_layer_of_each_code() -> None:
    rows = re.findall(r"</a>\*\*([A-Z][A-Z0-9-]+)\*\* \((\w+)\)", page.PAGE.read_text(), re.MULTILINE)
    assert len(rows) == len(CODES)
    assert [(code, layer) for code, layer in rows if layer != layer_of(code)] == []


def options(table: t.Mapping[str, t.Any]) -> t.Iterator[str]:
    """Find the names of options and of their suboptions in an argument spec."""
    for name, option in table.items():
        yield name
        yield from options(option.get("options") or {})


def fields(table: t.Mapping[str, Field]) -> t.Iterator[str]:
    """Find the keys of a pool, at every depth."""
    for name, field in table.items():
        yield name
        yield from fields(field.fields or {})


@pytest.fixture(scope="module")
def settings() -> set[str]:
    """Return every name that a user can set: options, variables of roles and playbooks, keys of a pool."""
    found = set(fields(POOL)) | set(fields(NETWORK))
    for path in (PLUGINS / "modules").glob("*.py"):
        found |= set(options(importlib.import_module(f"{PREFIX}.modules.{path.stem}").SPEC.options))
    for path in ROOT.glob("roles/*/meta/argument_specs.yml"):
        found |= set(options(yaml.safe_load(path.read_text())["argument_specs"]["main"]["options"]))
    found |= set(OF_ACTION)
    for path in ROOT.glob("playbooks/**/*.yml"):
        found |= set(re.findall(r"\bgpu_\w+", path.read_text()))
    return found


def test_every_remedy_names_a_command_or_a_setting() -> None:
    assert [one.code for one in CODES.values() if not NAMED.search(one.remedy)] == []


def test_every_setting_of_a_remedy_exists(settings: set[str]) -> None:
    unknown = []
    for one in CODES.values():
        for text in NAMED.findall(one.general().remedy):
            setting, program = text.partition(":")[0].replace("[]", ""), text.split()[0]
            if program not in (*PROGRAMS, "PYTHON") and not ELSEWHERE.fullmatch(setting):
                unknown += [(one.code, text)] if set(setting.split(".")) - settings else []
    assert unknown == []


def test_every_playbook_of_a_remedy_exists() -> None:
    named = {name for one in CODES.values() for name in re.findall(r"playbooks/\w+\.yml", one.remedy)}
    assert "playbooks/enable_gpus.yml" in named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_description_is_made_of_sentences() -> None:
    texts = [(code.code, text) for code in CODES.values() for text in code.general()[1:]]
    assert [one for one in texts if not SENTENCES.fullmatch(one[1])] == []
    assert [one.code for one in CODES.values() if one.remedy.startswith(("Look ", "Read "))] == []
