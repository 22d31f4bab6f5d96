# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The blobs of a file-based catalogue, and the files that opm reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from unit.sandbox.catalogue.builders import CALM, PACKAGES, Data, bundle, crds, csv_of, values

from openshift_sandbox.catalogue import file_based, packages
from openshift_sandbox.programs import kwok
from openshift_sandbox.scenario import Scenario


def test_a_bundle_is_inline_and_provides_its_served_kinds() -> None:
    blob = bundle("nfd")
    assert blob["image"] == ""
    assert values(blob, "olm.package") == [{"packageName": "nfd", "version": "4.22.0-202608111344"}]
    assert values(blob, "olm.gvk") == [{"group": "example.com", "kind": "Thing", "version": "v1"}]
    assert len(values(blob, "olm.bundle.object")) == 2
    assert csv_of(blob)["spec"]["customresourcedefinitions"]["owned"][0]["version"] == "v1"


@pytest.mark.parametrize(
    ("trouble", "required"),
    [
        ({"type": "foreign_csv", "package": "nfd", "with_package": "kueue-operator"}, ["kueue-operator"]),
        ({"type": "foreign_csv", "package": "nfd"}, [file_based.FOREIGN_PACKAGE]),
        ({"type": "resolution_failed", "package": "nfd"}, [file_based.ABSENT_PACKAGE]),
        ({"type": "resolution_failed", "package": "nfd", "version": "4.1.0"}, []),
        ({"type": "resolution_failed", "package": "gpu-operator-certified"}, []),
    ],
)
def test_troubles_that_add_a_dependency(trouble: Data, required: list[str]) -> None:
    assert [
        value["packageName"] for value in values(bundle("nfd", None, trouble), "olm.package.required")
    ] == required


def test_written_catalogues_lose_what_is_no_longer_carried(tmp_path: Path) -> None:
    folders = file_based.write(tmp_path, packages.load(crds, CALM), CALM)
    assert {path.stem for folder in folders.values() for path in folder.iterdir()} == set(PACKAGES)
    blobs = [json.loads(line) for line in (folders["redhat-operators"] / "nfd.json").read_text().splitlines()]
    assert [blob["schema"] for blob in blobs] == [
        "olm.package",
        "olm.channel",
        "olm.channel",
        "olm.bundle",
        "olm.bundle",
    ]
    less = Scenario("x", troubles=[{"type": "package_missing", "package": "nfd"}])
    file_based.write(tmp_path, packages.load(crds, less), less)
    assert {path.stem for folder in folders.values() for path in folder.iterdir()} == set(PACKAGES) - {"nfd"}


@pytest.mark.parametrize(("delays", "said"), [({}, None), ({"operator_start": 20.0}, "20s")])
def test_an_operator_that_starts_slowly_has_pods_that_become_ready_late(
    delays: dict[str, float], said: str | None
) -> None:
    scenario = Scenario("slow", delays=delays)
    (package,) = [one for one in packages.load(crds, scenario) if one.name == "nfd"]
    csv = csv_of(file_based.bundle(package, package.versions[0], scenario))
    (deployment,) = csv["spec"]["install"]["spec"]["deployments"]
    notes = deployment["spec"]["template"]["metadata"].get("annotations") or {}
    for key in ("delay", "jitter-delay"):
        assert notes.get(f"pod-ready.stage.kwok.x-k8s.io/{key}") == said


def test_a_pod_may_say_itself_how_long_a_step_takes_but_not_its_end() -> None:
    own = {"durationFrom": {"expressionFrom": ".a"}, "jitterDurationFrom": {"expressionFrom": ".b"}}
    for name, kept in (("pod-ready", True), ("pod-delete", False)):
        delay = {"durationMilliseconds": 1000, "jitterDurationMilliseconds": 5000, **own}
        spec = {
            "resourceRef": {"kind": "Pod"},
            "selector": {"matchExpressions": []},
            "delay": delay,
            "next": {"event": {"reason": "Created"}, "delete": False},
        }
        stage = kwok.brisk({"metadata": {"name": name}, "spec": spec}, 0.2, 0.3)["spec"]
        found = stage["delay"]
        assert stage["next"] == {"delete": False}
        assert (own.items() <= found.items()) == kept
        assert (found["durationMilliseconds"], found["jitterDurationMilliseconds"]) == (200, 500)
