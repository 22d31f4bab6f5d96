"""Which file of the sandbox may import which: packages in a written order, and no circles."""

from __future__ import annotations

import graphlib
from pathlib import Path

import pytest
from unit.sandbox.rules import house

from openshift_sandbox.stand_ins import registry

FIRST = {
    "audit",
    "client",
    "etcd",
    "kubeconfig",
    "pki",
    "processes",
    "sandbox",
    "scenario",
    "state",
}
LAST = {"__main__", "build", "cli", "faults", "handover", "lifecycle"}
ORDER = ("first", "go", "hardware", "catalogue", "seed", "programs", "stand_ins", "last")


def package(module: str) -> str:
    """Return the place of a module in ORDER: its package, or which half of the loose files it belongs to."""
    top = module.partition(".")[0]
    return "first" if top in FIRST else "last" if top in LAST else top


def stand_in(module: str) -> str | None:
    """Return the package of stand-ins that a module belongs to, or None when it belongs to none."""
    parts = module.split(".")
    return parts[1] if parts[0] == "stand_ins" and len(parts) > 2 else None


@pytest.mark.parametrize("path", house.files(), ids=house.name)
def test_a_package_imports_only_packages_before_it(path: Path) -> None:
    own = package(house.module(path)) if house.module(path) else "first"
    after = ORDER[ORDER.index(own) + 1 :]
    assert not {one for one in house.imported(path) if package(one) in after}


@pytest.mark.parametrize("path", house.files(house.STAND_INS), ids=house.name)
def test_a_package_of_stand_ins_imports_only_those_before_it(path: Path) -> None:
    own = stand_in(house.module(path))
    after = registry.ORDER[registry.ORDER.index(own) + 1 :] if own else ()
    assert not {one for one in house.imported(path) if stand_in(one) in after}


def test_nothing_but_the_loop_collects_reconcilers() -> None:
    for path in house.files():
        collected = {one for one in house.imported(path) if one.endswith(".reconcilers")}
        assert not collected, house.name(path)


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = {house.module(path): house.imported(path) - {house.module(path)} for path in house.files()}
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) >= len(graph)


def test_every_loose_file_has_its_half_and_every_folder_its_place() -> None:
    loose = {path.stem for path in house.CODE.glob("*.py")} - {"__init__"}
    folders = {path.parent.name for path in house.CODE.glob("*/__init__.py")}
    assert loose == FIRST | LAST
    assert folders == set(ORDER) - {"first", "last"}
