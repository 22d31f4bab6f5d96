"""The sandbox: which file may import which, and what an author of a stand-in may forget."""

from __future__ import annotations

import ast
import functools
import graphlib
import re
import typing as t
from pathlib import Path

from openshift_sandbox import build
from openshift_sandbox.go.progress import PACKAGES
from openshift_sandbox.stand_ins import registry
from openshift_sandbox.stand_ins.clouds.registry import CLOUDS
from openshift_sandbox.stand_ins.core.kinds import TABLE

SANDBOX: t.Final = Path(__file__).resolve().parents[3] / "sandbox"
CODE: t.Final = SANDBOX / "openshift_sandbox"
README: t.Final = (SANDBOX / "README.md").read_text()
FIRST: t.Final = {
    *("audit", "client", "etcd", "kubeconfig", "pki", "processes", "sandbox", "scenario", "state")
}
LAST: t.Final = {"__main__", "build", "cli", "faults", "handover", "lifecycle"}
ORDER: t.Final = ("first", "go", "hardware", "catalogue", "seed", "programs", "stand_ins", "last")
SERVERS: t.Final = {
    "stand_ins.admission.server",
    "stand_ins.image_registry.server",
    *(f"stand_ins.monitoring.{name}" for name in ("configuration", "exporter", "server", "state_metrics")),
    "stand_ins.oauth.server",
}


def dotted(path: Path) -> str:
    """Return the name of a module in the sandbox's package; for `__init__` that of its folder."""
    parts = path.relative_to(CODE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES: t.Final = {dotted(path): path for path in sorted(CODE.rglob("*.py"))}


@functools.cache
def tree(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text())


@functools.cache
def imported(name: str) -> frozenset[str]:
    """Return the sandbox's modules that a module imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == CODE.name:
            base = (node.module or "").removeprefix(CODE.name).removeprefix(".")
            inner = [f"{base}.{alias.name}".removeprefix(".") for alias in node.names]
            found |= {module if module in MODULES else base for module in inner}
    return frozenset(found)


def place(name: str) -> int:
    """Return the place of a module in ORDER: of its package, or of its half of the loose files."""
    top = name.partition(".")[0]
    return ORDER.index("first" if top in FIRST | {""} else "last" if top in LAST else top)


def component(name: str) -> int:
    """Return the place of a stand-in's package in the registry, or -1 if the module is none."""
    parts = name.split(".")
    is_inside = parts[0] == "stand_ins" and len(parts) > 1 and parts[1] in registry.ORDER
    return registry.ORDER.index(parts[1]) if is_inside else -1


def bases(node: ast.AST) -> set[str]:
    found = node.bases if isinstance(node, ast.ClassDef) else []
    return {base.id for base in found if isinstance(base, ast.Name)}


def stands_in(name: str) -> bool:
    """Return whether a module stands in for a component, and not only helps one that does."""
    extended = {base for node in ast.walk(tree(name)) for base in bases(node)}
    is_core = name.startswith("stand_ins.core.")
    return name in SERVERS or (not is_core and bool(extended & {"Reconciler", "Cloud", "Platform"}))


STANDING_IN: t.Final = [name for name in MODULES if name.startswith("stand_ins.") and stands_in(name)]


def test_a_package_imports_only_packages_before_it() -> None:
    pairs = [(name, other) for name in MODULES for other in imported(name)]
    assert [pair for pair in pairs if place(pair[1]) > place(pair[0])] == []
    inside = [pair for pair in pairs if component(pair[0]) >= 0]
    assert [pair for pair in inside if component(pair[1]) > component(pair[0])] == []


def test_nothing_but_the_loop_collects_reconcilers() -> None:
    assert [name for name in MODULES if any(one.endswith(".reconcilers") for one in imported(name))] == []


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = {name: imported(name) - {name} for name in MODULES}
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) >= len(graph)


def test_every_file_and_folder_has_its_place() -> None:
    assert {path.stem for path in CODE.glob("*.py")} - {"__init__"} == FIRST | LAST
    assert {path.parent.name for path in CODE.glob("*/__init__.py")} == set(ORDER) - {"first", "last"}
    packages = [path.parent.name for path in (CODE / "stand_ins").glob("*/__init__.py")]
    assert sorted(registry.ORDER) == sorted(packages)


def test_a_package_names_each_of_its_reconcilers() -> None:
    named, defined = set(), set()
    for package in registry.ORDER:
        if package not in registry.WITHOUT_RECONCILERS:
            named |= {(package, reconciler.__name__) for reconciler in registry.classes(package)}
        prefix = f"stand_ins.{package}."
        classes = [node for name in MODULES if name.startswith(prefix) for node in ast.walk(tree(name))]
        found = {
            node.name for node in classes if isinstance(node, ast.ClassDef) and "Reconciler" in bases(node)
        }
        defined |= {(package, name) for name in found if package != "core"}
    assert named == defined


def test_every_cloud_is_in_its_registry() -> None:
    clouds = {name.rpartition(".")[2] for name in STANDING_IN if name.startswith("stand_ins.clouds.")}
    registered = {type(cloud).__module__.rpartition(".")[2] for cloud in CLOUDS.values()}
    assert registered == clouds - {"bare_metal_hosts"}


def test_a_stand_in_says_what_it_stands_in_for_and_how_the_real_thing_differs() -> None:
    texts = {name: ast.get_docstring(tree(name)) or "" for name in STANDING_IN}
    assert len(texts) > 40
    assert [
        name
        for name, text in texts.items()
        if not text.startswith("Stand in for ") or not re.search(r"\b[Tt]he real\b", text)
    ] == []


def test_every_kind_that_a_reconciler_watches_has_its_path() -> None:
    assert {kind for one in registry.reconcilers() for kind in one.kinds} <= set(TABLE)


def test_the_progress_of_a_build_knows_every_program() -> None:
    families = (*build.FAMILIES, *build.OPTIONAL)
    assert set(PACKAGES) == {name for family in families for name in family.programs}


def words(functions: set[str], position: int) -> set[str]:
    """Return the texts that the sandbox passes to these functions at this position."""
    calls = [node for name in MODULES for node in ast.walk(tree(name)) if isinstance(node, ast.Call)]
    arguments = [
        call.args[position]
        for call in calls
        if len(call.args) > position
        and (getattr(call.func, "attr", None) or getattr(call.func, "id", None)) in functions
    ]
    constants = [one.value for one in arguments if isinstance(one, ast.Constant)]
    return {value for value in constants if isinstance(value, str)}


def test_the_readme_lists_every_trouble_and_every_delay() -> None:
    troubles = words({"trouble", "troubles", "troubles_of"}, 0) | words({"on_node"}, 1)
    delays = words({"due"}, 1) | words({"delay"}, 0)
    assert (len(troubles) > 45, len(delays) > 25) == (True, True)
    assert sorted(word for word in troubles | delays if f"`{word}`" not in README) == []
