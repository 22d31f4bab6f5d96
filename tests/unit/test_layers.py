"""The layers of plugins/module_utils: arrows go down only."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
UTILS = PLUGINS / "module_utils"
PREFIX = "ansible_collections.accelerators.openshift.plugins."

LAYER_0 = {"_errors", "_readiness"}
LAYER_2 = {
    "_kinds",
    "_http",
    "_http_errors",
    "_secrets",
    "_connection",
    "_credentials",
    "_deadline",
    "_api",
    "_wait",
    "_watch",
}
LAYER_3 = {"_module", "_procedures", "_backends"}
CLIENTS = {"kubernetes", "openshift"}
# Code of layer 0 and 1 is pure: neither a client nor Ansible, nor anything that does I/O.
IMPURE = CLIENTS | {
    "ansible",
    "urllib3",
    "requests",
    "http",
    "socket",
    "ssl",
    "subprocess",
    "threading",
    "time",
    "os",
    "pathlib",
}
# The option sets join kubernetes.core's own, so this one file of layer 1 may read Ansible's names.
ANSIBLE_NAMES_ALLOWED = {"_argspec"}


def files() -> list[Path]:
    return sorted(path for path in UTILS.rglob("*.py") if path.name != "__init__.py")


def layer(name: str) -> int:
    head = name.split(".", maxsplit=1)[0]
    if head in LAYER_0:
        return 0
    if head in LAYER_3:
        return 3
    # A procedure works on an Api, so it stands above it; nothing below calls one.
    # a part of the Api (`_api_log`, `_wait_watch`) lives on the Api's layer
    return 2 if head in LAYER_2 or any(head.startswith(f"{part}_") for part in LAYER_2) else 1


def imports(path: Path) -> set[str]:
    """Every module that a file imports, other than for type annotations alone."""
    tree = ast.parse(path.read_text())
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import by full name"
            found.add(node.module or "")
            if (node.module or "") == f"{PREFIX}module_utils":
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def own(path: Path) -> set[str]:
    start = f"{PREFIX}module_utils."
    return {name.removeprefix(start) for name in imports(path) if name.startswith(start)}


def util(path: Path) -> str:
    return ".".join(path.relative_to(UTILS).with_suffix("").parts)


@pytest.mark.parametrize("path", files(), ids=util)
def test_a_util_imports_nothing_from_above(path: Path) -> None:
    here = layer(util(path))
    above = {name for name in own(path) if layer(name) > here}
    assert not above, f"layer {here} must not import {above}"


@pytest.mark.parametrize("path", [path for path in files() if layer(util(path)) < 2], ids=util)
def test_nouns_are_pure(path: Path) -> None:
    heads = {name.split(".")[0] for name in imports(path)} & IMPURE
    if util(path) in ANSIBLE_NAMES_ALLOWED:
        heads -= {"ansible"}
    assert not heads, "a noun builds, judges and summarizes: no I/O, no clock, no client, no Ansible"


@pytest.mark.parametrize(
    "path", sorted(PLUGINS.rglob("*.py")), ids=lambda path: str(path.relative_to(PLUGINS))
)
def test_only_one_file_imports_the_client(path: Path) -> None:
    clients = {name.split(".")[0] for name in imports(path)} & CLIENTS
    assert not clients or path == UTILS / "_credentials_package.py"


def test_the_one_fail_json() -> None:
    users = [path.relative_to(PLUGINS) for path in PLUGINS.rglob("*.py") if "fail_json(" in path.read_text()]
    assert users in ([], [Path("module_utils/_module.py")])


def test_no_cycles() -> None:
    graph = {util(path): own(path) for path in files()}
    done: set[str] = set()

    def walk(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name not in done:
            for other in graph.get(name, ()):
                walk(other, (*trail, name))
            done.add(name)

    for name in graph:
        walk(name, ())
    assert done >= set(graph)


def taken_along(module: Path) -> set[Path]:
    """The utils that Ansible packs with a module that runs as a process of its own: all that it may import, at once or later."""
    found: set[Path] = set()
    ahead = own(module)
    while ahead:
        path = UTILS.joinpath(*ahead.pop().split(".")).with_suffix(".py")
        if path.is_file() and path not in found:
            found.add(path)
            ahead |= own(path)
    return found


@pytest.mark.parametrize(
    ("module", "files_at_most", "kib"),
    [("manifests", 40, 190), *((path.stem, 80, 380) for path in sorted((PLUGINS / "modules").glob("*.py")))],
)
def test_a_module_takes_little_along(module: str, files_at_most: int, kib: int) -> None:
    """Each file is packed and read by every task; the first row is the engine alone."""
    packed = taken_along(PLUGINS / "modules" / f"{module}.py")
    assert {"_module.py", "_http.py"} <= {path.name for path in packed}
    assert len(packed) <= files_at_most
    assert sum(path.stat().st_size for path in packed) <= kib * 1024
