"""What the recipe of a new stand-in in sandbox/README.md asks for, and what an author may forget."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from unit.sandbox.rules import house

from openshift_sandbox.stand_ins import registry
from openshift_sandbox.stand_ins.clouds.registry import CLOUDS
from openshift_sandbox.stand_ins.core.kinds import TABLE

README = (house.SANDBOX / "README.md").read_text()
BASES = {"Reconciler", "Cloud", "Platform"}
SERVERS = {
    "admission.server",
    *(f"monitoring.{one}" for one in ("configuration", "exporter", "server", "state_metrics")),
    "oauth.server",
}

# Stand-ins that only a whole sandbox tests: a word in those tests under tests/integration, and the reason.
TESTED_IN_A_SANDBOX = {
    "admission.server": ("programs import admission", "its client is the API server"),
    "api_server.outage": ("api_outage", "it stops a process"),
    "device_plugins.fpga_operator": ("FpgaStack", "the tests of the custom backend watch it"),
    "gpu_operator.gpu_cluster": ("GPUCluster", "the tests of the DRA backend watch it"),
    "monitoring.server": ("exporter_without_data", "its clients are Prometheus and gpu_use"),
    "nfd.master": ("nfd-master", "it runs a real program"),
    "oauth.server": ("oauth", "its client is the API server"),
    "sro.operator": ("SpecialResource", "the tests of the move to the GPU operator watch it"),
}


def place(path: Path) -> str:
    """Return the dotted name of a file inside the package of stand-ins."""
    return house.module(path).removeprefix("stand_ins.")


def bases(node: ast.AST) -> set[str]:
    """Return the names of the classes that a class extends."""
    found = node.bases if isinstance(node, ast.ClassDef) else []
    return {base.id for base in found if isinstance(base, ast.Name)}


def stands_in(path: Path) -> bool:
    """Return whether a file stands in for a component, and not only helps one that does."""
    if place(path).startswith("core."):
        return False
    return place(path) in SERVERS or any(bases(node) & BASES for node in ast.walk(house.tree(path)))


def defined(package: str) -> set[str]:
    """Return the names of the reconciler classes that the files of a package define."""
    return {
        node.name
        for path in house.files(house.STAND_INS / package)
        for node in ast.walk(house.tree(path))
        if isinstance(node, ast.ClassDef) and "Reconciler" in bases(node)
    }


def words(functions: set[str], position: int) -> set[str]:
    """Return the texts that the sandbox passes to these functions at this position."""
    found = set()
    for path in house.files():
        for node in ast.walk(house.tree(path)):
            if isinstance(node, ast.Call) and len(node.args) > position:
                called = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
                argument = node.args[position]
                if called in functions and isinstance(argument, ast.Constant):
                    found.add(argument.value)
    return {one for one in found if isinstance(one, str)}


STANDING_IN = [path for path in house.files(house.STAND_INS) if stands_in(path)]
PACKAGES = sorted(path.parent.name for path in house.STAND_INS.glob("*/__init__.py"))


def test_there_are_stand_ins_to_look_at() -> None:
    assert len(STANDING_IN) > 45


def test_every_package_is_in_the_registry_once() -> None:
    assert sorted(registry.ORDER) == PACKAGES
    assert set(registry.WITHOUT_RECONCILERS) <= set(registry.ORDER)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_names_each_of_its_reconcilers(package: str) -> None:
    has_file = (house.STAND_INS / package / "reconcilers.py").exists()
    assert has_file is (package not in registry.WITHOUT_RECONCILERS)
    named = [one.__name__ for one in registry.classes(package)] if has_file else []
    expected = set() if package == "core" else defined(package)
    assert sorted(named) == sorted(expected)


def test_every_cloud_is_in_its_registry() -> None:
    clouds = {path.stem for path in STANDING_IN if place(path).startswith("clouds.")} - {"bare_metal_hosts"}
    assert {type(cloud).__module__.rpartition(".")[2] for cloud in CLOUDS.values()} == clouds


@pytest.mark.parametrize("path", STANDING_IN, ids=place)
def test_a_stand_in_says_what_it_stands_in_for_and_how_the_real_thing_differs(path: Path) -> None:
    text = house.docstring(path)
    assert text.startswith("Stand in for ")
    assert re.search(r"\b[Tt]he real\b", text)


def test_every_kind_that_a_reconciler_watches_has_its_path() -> None:
    assert {kind for one in registry.reconcilers() for kind in one.kinds} <= set(TABLE)


def test_the_readme_lists_every_trouble() -> None:
    read = words({"trouble", "troubles", "troubles_of"}, 0) | words({"on_node"}, 1)
    assert len(read) > 50
    assert not {one for one in read if f"`{one}`" not in README}


def test_the_readme_lists_every_delay() -> None:
    read = words({"due"}, 1) | words({"delay"}, 0)
    assert len(read) > 25
    assert not {one for one in read if f"`{one}`" not in README}


@pytest.mark.parametrize("path", STANDING_IN, ids=place)
def test_a_stand_in_is_tested(path: Path) -> None:
    folder = house.TESTS / place(path).partition(".")[0]
    imported = {one for test in folder.glob("*.py") for one in house.imported(test)}
    own = (folder / f"test_{path.stem}.py", folder / f"cases/{path.stem}.py")
    is_unit_tested = house.module(path) in imported or any(file.exists() for file in own)
    assert is_unit_tested is not (place(path) in TESTED_IN_A_SANDBOX)


@pytest.mark.parametrize("name", TESTED_IN_A_SANDBOX)
def test_the_test_in_a_sandbox_exists(name: str) -> None:
    word, reason = TESTED_IN_A_SANDBOX[name]
    tests = (house.CHECKOUT / "tests/integration").rglob("*.py")
    assert any(word in test.read_text() for test in tests)
    assert reason
