# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenarios as data: the shape of the cluster, the stand-ins' delays and the scripted troubles."""

from __future__ import annotations

import json
import os
import typing as t
from dataclasses import dataclass, field
from pathlib import Path

import yaml

Data = dict[str, t.Any]

SCENARIOS: t.Final = Path(__file__).resolve().parents[1] / "scenarios"
FILE: t.Final = "scenario.json"
KEYS: t.Final = {"description", "extends", "cluster", "delays", "troubles"}


class ScenarioError(Exception):
    """A scenario that does not exist, or a key that no scenario has."""


@dataclass(frozen=True)
class Scenario:
    """One scenario: its name, and the maps that its file holds."""

    name: str
    cluster: Data = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)
    troubles: list[Data] = field(default_factory=list)

    def delay(self, step: str, default: float = 0.0) -> float:
        """Return how many seconds a stand-in takes for a step."""
        return float(self.delays.get(step, default))

    def troubles_of(self, kind: str, **match: t.Any) -> list[Data]:
        """Return the troubles of a type that match.

        A trouble that does not name a field of `match` applies to every value of that field.
        """
        return [
            one
            for one in self.troubles
            if one.get("type") == kind and all(one.get(key, value) == value for key, value in match.items())
        ]

    def trouble(self, kind: str, **match: t.Any) -> Data | None:
        """Return the first trouble of a type that matches, or None."""
        return next(iter(self.troubles_of(kind, **match)), None)


def names() -> list[str]:
    """Return the names of the scenarios that come with the sandbox."""
    return sorted(path.stem for path in SCENARIOS.glob("*.yml"))


def descriptions() -> dict[str, str]:
    """Return what each of them says of itself. Each has it in one line, so no YAML is read."""
    texts = {name: (SCENARIOS / f"{name}.yml").read_text() for name in names()}
    return {name: text.partition("description: ")[2].partition("\n")[0] for name, text in texts.items()}


def load(name: str, folder: Path = SCENARIOS) -> Scenario:
    """Return a scenario by its name or the path of its file, merged with the scenarios that it extends.

    Maps are merged deeply; troubles are added. Raises ScenarioError.
    """
    data = _merged(name, folder, ())
    return Scenario(
        Path(name).stem, data.get("cluster") or {}, data.get("delays") or {}, data.get("troubles") or []
    )


def save(scenario: Scenario, directory: Path) -> None:
    """Write the scenario of a sandbox in one step, since the stand-ins read it while they run."""
    body = {
        "name": scenario.name,
        "cluster": scenario.cluster,
        "delays": scenario.delays,
        "troubles": scenario.troubles,
    }
    draft = directory / f"{FILE}.new"
    draft.write_text(json.dumps(body, indent=2) + "\n")
    os.replace(draft, directory / FILE)


def read(directory: Path) -> Scenario:
    """Return the effective scenario of a sandbox."""
    body = json.loads((directory / FILE).read_text())
    return Scenario(body["name"], body["cluster"], body["delays"], body["troubles"])


class LiveScenario:
    """The effective scenario, read again whenever its file changed, so that `sandbox fault` works at once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._file = os.fspath(directory / FILE)
        self._stamp: tuple[int, int] | None = None
        self._scenario = Scenario("")

    @property
    def now(self) -> Scenario:
        """The scenario as its file is now."""
        status = os.stat(self._file)
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._stamp:
            self._scenario, self._stamp = read(self._directory), stamp
        return self._scenario


def _merged(name: str, folder: Path, seen: tuple[str, ...]) -> Data:
    path = Path(name) if name.endswith((".yml", ".yaml")) else folder / f"{name}.yml"
    if not path.is_file():
        raise ScenarioError(
            f"no scenario {name!r}: choose one of {', '.join(names())}, or give the path of a .yml file"
        )
    if name in seen:
        raise ScenarioError(f"scenario {name!r} extends itself: {' -> '.join((*seen, name))}")
    data = yaml.safe_load(path.read_text()) or {}
    unknown = sorted(set(data) - KEYS)
    if unknown:
        raise ScenarioError(
            f"{path}: unknown keys {', '.join(unknown)}; allowed are {', '.join(sorted(KEYS))}"
        )
    parent = data.pop("extends", None)
    return _deep(_merged(parent, folder, (*seen, name)), data) if parent else data


def _deep(base: Data, over: Data) -> Data:
    merged = dict(base)
    for key, value in over.items():
        if key == "troubles":
            merged[key] = [*base.get(key, []), *(value or [])]
        elif isinstance(value, dict) and isinstance(base.get(key), dict):
            merged[key] = _deep(base[key], value)
        else:
            merged[key] = value
    return merged
