"""A user's own program: its figure by a regular expression, or by a path into JSON."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import own
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    GpuNode,
    Settings,
)

UUIDS = ("GPU-6c1440da-b4a3-51b0-929a-330ae814498b", "GPU-11111111-b4a3-51b0-929a-330ae814498b")
LIST = "".join(f"GPU {number}: NVIDIA A100 (UUID: {uuid})\n" for number, uuid in enumerate(UUIDS))


LOG = LIST + 'starting\nthroughput: 100.5\n{"a": 1}\n{"run": {"rates": [1, 7.5]}}\nthroughput: 120.25 img/s\n'


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        (r"throughput: ([0-9.]+)", 120.25),
        ("$.run.rates[1]", 7.5),
        ("$.a", 1.0),
    ],
)
def test_the_last_figure_counts(figure: str, value: float) -> None:
    found = own.parse(LOG, Settings("own", figure=figure, unit="img/s"))
    assert found.passed
    assert [(one.name, one.value, one.unit) for one in found.figures] == [("figure", value, "img/s")]


@pytest.mark.parametrize("figure", [r"speed: ([0-9.]+)", "$.run.rates[5]", "$.b", r"(starting)"])
def test_without_a_figure_it_measured_nothing(figure: str) -> None:
    found = own.parse(LOG, Settings("own", figure=figure))
    assert not found.passed
    assert "measured nothing" in found.findings[0].text


def test_the_script_of_the_user_runs_in_a_shell_of_its_own() -> None:
    script = own.script(Settings("own", script="exit 3"), GpuNode())
    assert "(exit 3\n)\ncode=$?" in script
