"""Scenarios extend each other, refuse unknown keys, and are read again after a change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from openshift_sandbox import scenario
from openshift_sandbox.faults import parse
from openshift_sandbox.scenario import LiveScenario, Scenario, ScenarioError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "base.yml").write_text(
        "cluster: {platform: AWS, workers: {replicas: 1, type: m6i}}\ntroubles: [{type: one}]\n"
    )
    (tmp_path / "child.yml").write_text(
        "extends: base\ncluster: {workers: {replicas: 2}}\ndelays: {step: 3}\ntroubles: [{type: two, "
        "zone: a}]\n"
    )
    (tmp_path / "circle.yml").write_text("extends: circle\n")
    (tmp_path / "typo.yml").write_text("extends: base\ntrouble: []\n")
    return tmp_path


def test_a_child_overrides_maps_deeply_and_adds_its_troubles(folder: Path) -> None:
    child = scenario.load("child", folder)
    assert child.cluster == {"platform": "AWS", "workers": {"replicas": 2, "type": "m6i"}}
    assert [trouble["type"] for trouble in child.troubles] == ["one", "two"]
    assert (child.name, child.delay("step"), child.delay("other", 1.5)) == ("child", 3.0, 1.5)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("circle", "extends itself: circle -> circle"),
        ("typo", "unknown keys trouble; allowed are"),
        ("absent", "no scenario 'absent'"),
    ],
)
def test_a_wrong_scenario_is_named(folder: Path, name: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        scenario.load(name, folder)


@pytest.mark.parametrize(
    ("match", "found"),
    [({"zone": "a"}, 2), ({"zone": "b"}, 1), ({}, 2), ({"zone": "a", "instance_type": "g5"}, 2)],
)
def test_a_trouble_that_names_no_value_applies_to_all(match: dict[str, str], found: int) -> None:
    one = Scenario(
        "x", troubles=[{"type": "no_capacity", "zone": "a"}, {"type": "no_capacity"}, {"type": "other"}]
    )
    assert len(one.troubles_of("no_capacity", **match)) == found


def test_a_live_scenario_sees_a_saved_change(tmp_path: Path) -> None:
    scenario.save(Scenario("x"), tmp_path)
    live = LiveScenario(tmp_path)
    assert live.now.trouble("lost") is None
    scenario.save(Scenario("x", troubles=[{"type": "lost", "node": "n"}]), tmp_path)
    os.utime(tmp_path / "scenario.json", ns=(1, 1))
    assert live.now.trouble("lost", node="n") == {"type": "lost", "node": "n"}
    assert live.now.trouble("lost", node="other") is None


@pytest.mark.parametrize("name", scenario.names())
def test_every_scenario_loads(name: str) -> None:
    loaded = scenario.load(name)
    assert loaded.cluster["infrastructure_name"]
    assert all("type" in trouble for trouble in loaded.troubles)


def test_words_of_a_fault_are_yaml() -> None:
    assert parse(["zone=us-east-2a", "seconds=20", "labels=[a, b]"]) == {
        "zone": "us-east-2a",
        "seconds": 20,
        "labels": ["a", "b"],
    }
    assert parse(["text=error: not a map"]) == {"text": "error: not a map"}


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("error: NVRM: RmInitAdapter failed! (0x62:0x0)", "error: NVRM: RmInitAdapter failed! (0x62:0x0)"),
        ("[gpu] modprobe: failed", "[gpu] modprobe: failed"),
        ("%d of 2: @worker", "%d of 2: @worker"),
        ("it's #1: lost", "it's #1: lost"),
        ("pod a # not a comment", "pod a # not a comment"),
        ("# nothing", "# nothing"),
        ("- one", "- one"),
        ("1:30", "1:30"),
        ("2026-11-28", "2026-11-28"),
        ("", None),
        ("null", None),
        ("20.5", 20.5),
        ("true", True),
        ("'5'", "5"),
        ("[a, b]", ["a", "b"]),
    ],
)
def test_a_value_that_is_no_number_switch_or_list_is_text_as_it_stands(value: str, read: object) -> None:
    assert parse([f"text={value}"]) == {"text": read}
