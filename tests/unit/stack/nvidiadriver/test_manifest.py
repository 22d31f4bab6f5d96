# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NVIDIADriver: from options to manifests, and selectors that overlap."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from unit.stack.nvidiadriver.builders import MAJOR, POOL, Data, driver, entry, node, params, pool

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    DRIVER_UPGRADE,
    GPU_PRESENT,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.fields import REPLACED
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import name
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import preconditions
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    judge as nvidiadriver_judge,
    manifest as nvidiadriver_manifest,
)

CRDS = Path(__file__).resolve().parents[4] / ".build/crds/gpu-operator-certified.json"


TRIPLE = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "595.91.07"}


OLDER = TRIPLE | {"version": "580.82.07"}


def test_one_for_each_pool() -> None:
    policy = {
        "enabled": True,
        **TRIPLE,
        "repoConfig": {"configMapName": "repos"},
        "certConfig": {"name": ""},
        "rdma": {"enabled": True},
    }
    parts = [
        pool("b") | {"node_selector": {POOL: "b", "node.kubernetes.io/instance-type": kind}}
        for kind in ("x", "y")
    ]
    one, two = nvidiadriver_manifest.build(
        params(pool("a", driver=OLDER), *parts), policy, {"driverType": "gpu", "version": "0", "manager": {}}
    )
    assert one["metadata"] == {"name": "a", "annotations": {REPLACED: "version"}}
    assert one["spec"] == {
        "driverType": "gpu",
        "manager": {},
        **OLDER,
        "repoConfig": {"name": "repos"},
        "rdma": {"enabled": True},
        "nodeSelector": {POOL: "a"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    }
    assert (two["spec"]["version"], two["spec"]["nodeSelector"]) == ("595.91.07", {POOL: "b"})


def test_what_runs_beside_a_pools_driver_is_in_its_object() -> None:
    env = [{"name": "A", "value": "1"}]
    beside = {"rdma": {"enabled": True, "use_host_mofed": True}, "gdrcopy": {"enabled": True}, "env": env}
    (one,) = nvidiadriver_manifest.build(params(pool("a", driver=beside)), {}, {})
    assert one["spec"]["rdma"] == {"enabled": True, "useHostMofed": True}
    assert (one["spec"]["gdrcopy"], one["spec"]["env"]) == ({"enabled": True}, env)


def test_entries_win_over_pools_and_the_raw_spec_over_entries() -> None:
    given = [
        entry("a", kernel_module_type="open", spec={"kernelModuleType": "auto", "labels": {"a_b": "c"}}),
        entry("rest", default=True),
    ]
    one, rest = nvidiadriver_manifest.build(
        params(pool("a", driver=TRIPLE), nvidia_drivers=[*given, entry("old", state="absent")]), {}, {}
    )
    assert (one["spec"]["kernelModuleType"], one["spec"]["labels"], one["spec"]["version"]) == (
        "auto",
        {"a_b": "c"},
        "595.91.07",
    )
    assert (rest["spec"]["default"], "nodeSelector" in rest["spec"]) == (True, False)


def test_a_driver_that_is_to_go_alone_leaves_those_of_the_pools() -> None:
    """A pool's driver is removed by name; that says nothing of the others."""
    wanted = params(
        pool("a", driver=TRIPLE), pool("gone"), nvidia_drivers=[entry("gone") | {"state": "absent"}]
    )
    assert [name(one) for one in nvidiadriver_manifest.build(wanted, {}, {})] == ["a"]


def test_ours_that_nothing_asks_for_any_more() -> None:
    ours = {"labels": {"app.kubernetes.io/managed-by": "accelerators.openshift"}}
    live = [
        {"metadata": {"name": object_name} | (ours if object_name != "theirs" else {}), "spec": {}}
        for object_name in ("a", "old", "leaving", "theirs")
    ]
    given = params(nvidia_drivers=[entry("leaving") | {"state": "absent"}])
    assert [name(one) for one in nvidiadriver_manifest.unlisted(given, [driver("a")], live)] == ["old"]


def test_the_warning_about_an_unlisted_driver_has_a_line_and_a_command_to_paste() -> None:
    told = nvidiadriver_manifest.unlisted_remark("old", [f"n-{number}" for number in range(7)])
    assert "it stays and has nodes: n-0, n-1, n-2, n-3, n-4, …." in told
    assert "set `nvidia_drivers: [{name: old, state: absent}]`" in told
    assert told.endswith("or run `oc delete nvidiadriver old`. Pods with GPUs on its nodes end.")
    assert "has no node" in nvidiadriver_manifest.unlisted_remark("old", [])


def test_a_leaving_driver_goes_first_where_its_nodes_are_wanted() -> None:
    leaving = [driver("renamed", x="1"), driver("elsewhere", x="2")]
    assert nvidiadriver_manifest.clashing([driver("new", x="1")], leaving, [node("n", x="1")]) == ["renamed"]


@pytest.mark.parametrize(
    ("kind", "version", "fits"),
    [("auto", "2.20.5", False), ("auto", "v2.16.1", True), ("open", "2.20.5", True), ("auto", "", True)],
)
def test_gpudirect_storage_wants_open_modules(kind: str, version: str, fits: bool) -> None:
    given = params(
        pool("a"),
        nvidia_drivers=[entry("a", kernel_module_type=kind, gds={"enabled": True, "version": version})],
    )
    if fits:
        assert nvidiadriver_manifest.build(given, {}, {})
        return
    with pytest.raises(InputError, match="open kernel modules only"):
        nvidiadriver_manifest.build(given, {}, {})


def test_a_version_that_nobody_named_has_to_fit_as_well() -> None:
    given = params(pool("a", gpu_models=["V100"]), pool("b", gpu_models=["T4"]))
    wanted = nvidiadriver_manifest.build(given, {}, TRIPLE)
    with pytest.raises(InputError, match=r"NVIDIADriver a: spec.version is 595.91.07, and 580 is the last"):
        preconditions.check_final_driver(given.pools, wanted[0], (26, 7))


@pytest.mark.parametrize(("installed", "fits"), [((26, 7), False), ((26, 3), True), ((), True)])
def test_the_operators_own_driver_has_to_fit_as_well(installed: tuple[int, ...], fits: bool) -> None:
    given = params(pool("a", gpu_models=["V100"]))
    wanted = nvidiadriver_manifest.build(given, {}, {})
    with contextlib.nullcontext() if fits else pytest.raises(InputError, match="own is of branch 595"):
        preconditions.check_final_driver(given.pools, wanted[0], installed)


@pytest.mark.parametrize(
    ("version", "serves"), [("26.3.2", False), ("25.10.1", False), ("26.7.0", True), ("27.1.0", True)]
)
def test_an_operator_that_knows_no_owners_is_refused(version: str, serves: bool) -> None:
    csvs = [
        {"metadata": {"name": f"gpu-operator-certified.v{version}"}, "spec": {"version": version}},
        {"metadata": {"name": "nfd.4.20"}, "spec": {"version": "4.20"}},
    ]
    if serves:
        nvidiadriver_manifest.refuse_release(csvs)
        return
    with pytest.raises(NotReadyError) as caught:
        nvidiadriver_manifest.refuse_release(csvs)
    assert caught.value.code == "GPU-NVD-RELEASE"


def test_going_over_keeps_the_policys_driver() -> None:
    wanted = {"metadata": {"name": "a"}, "spec": OLDER | {"nodeSelector": {}}}
    assert nvidiadriver_manifest.as_before(wanted, TRIPLE | {"kernelModuleType": "open"})[
        "spec"
    ] == TRIPLE | {
        "kernelModuleType": "open",
        "nodeSelector": {},
    }
    assert nvidiadriver_manifest.as_before(wanted, {"enabled": True}) is wanted


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"driver": {"use_nvidia_driver_crd": False}}, "driver.use_nvidia_driver_crd"),
        ({"spec": {"driver": {"useNvidiaDriverCRD": False}}}, "driver.use_nvidia_driver_crd"),
        ({"nvidia_drivers": [entry("a", version="1")]}, "nvidia_drivers[0].version"),
        ({"nvidia_drivers": [entry("a"), entry("a")]}, "nvidia_drivers[0].name"),
        ({"nvidia_drivers": [entry("a"), entry("b")]}, "nvidia_drivers[1]"),
        ({"nvidia_drivers": [entry("a", default=True, node_selector={"a": "b"})]}, "nvidia_drivers[0]"),
        ({"nvidia_drivers": [entry("a", use_precompiled=True, gds={"enabled": True})]}, "nvidia_drivers[0]"),
        (
            {"nvidia_drivers": [entry("a", upgrade_policy={"max_unavailable": "x"})]},
            "nvidia_drivers[0].upgrade_policy.max_unavailable",
        ),
        ({"pools": []}, "nvidia_drivers is missing"),
        ({"pools": [pool("a", driver={"version": "1"})]}, "pools[0].driver.version"),
        (
            {"pools": [pool("a", driver=TRIPLE, gpu_models=["V100"])]},
            "pools[0].driver.version is 595.91.07, and 580 is the last branch",
        ),
        (
            {"pools": [pool("a", gpu_models=["V100"])], "nvidia_drivers": [entry("a", **TRIPLE)]},
            "nvidia_drivers[0].version is 595.91.07, and 580",
        ),
    ],
)
def test_what_cannot_work_is_refused_by_its_path(given: Data, path: str) -> None:
    with pytest.raises(InputError) as caught:
        nvidiadriver_manifest.check(params(pool("a"), **given))
    assert path in caught.value.message


@pytest.mark.parametrize(
    ("wanted", "others", "nodes"),
    [
        ([driver("a", x="1"), driver("b", y="1")], [], [node("n", x="1", y="1")]),
        ([driver("a", x="1"), driver("b", x="1", y="1")], [], []),
        ([driver("a", x="1")], [driver("theirs")], []),
        (
            [driver("a", x="1")],
            [driver("theirs", y="1")],
            [{"metadata": {"name": "no-gpu", "labels": {"x": "1", "y": "1"}}}],
        ),
        ([driver("a", x="1")], [driver("theirs", y="1")], [node("n", x="1", y="1")]),
        ([{"metadata": {"name": name}, "spec": {"default": True}} for name in "ab"], [], []),
    ],
)
def test_overlaps_are_refused(wanted: list[Data], others: list[Data], nodes: list[Data]) -> None:
    with pytest.raises(NotReadyError) as caught:
        nvidiadriver_manifest.refuse_overlap(wanted, others, nodes)
    assert caught.value.code == "GPU-NVD-OVERLAP"


def test_selectors_that_no_node_has_both_of() -> None:
    wanted = [
        driver("a", x="1"),
        driver("b", x="2"),
        {"metadata": {"name": "rest"}, "spec": {"default": True}},
    ]
    nvidiadriver_manifest.refuse_overlap(wanted, [driver("a", x="1")], [node("n", x="1"), node("m", x="2")])
    assert nvidiadriver_manifest.undecided(wanted) == []
    assert (
        "NVIDIADrivers a and c;"
        in nvidiadriver_manifest.undecided([driver("a", x="1"), driver("c", y="1")])[0]
    )


OWNED = {
    POOL: "a",
    GPU_PRESENT: "true",
    nvidiadriver_judge.OWNER: "a",
    MAJOR: "9",
    DRIVER_UPGRADE: "upgrade-done",
}


@pytest.mark.parametrize(
    ("raw", "code", "path"),
    [
        ({"repository": "https://nvcr.io"}, "INPUT-IMAGE", "repository"),
        ({"version": "v595.91.07"}, "INPUT-IMAGE", "version"),
        ({"manager": {"image": "manager:1"}}, "INPUT-IMAGE", "manager.image"),
    ],
)
def test_a_raw_reference_that_no_registry_can_have_is_refused(raw: Data, code: str, path: str) -> None:
    with pytest.raises(InputError, match=rf"nvidia_drivers\[0\]\.spec\.{path} ") as caught:
        nvidiadriver_manifest.check(params(pool("a"), nvidia_drivers=[entry("a", spec=raw)]))
    assert caught.value.code == code
