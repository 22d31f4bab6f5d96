"""Node feature discovery: configuration merged and never replaced, expectations about labels."""

from __future__ import annotations

import typing as t

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils import _node_feature as node_feature
from ansible_collections.accelerators.openshift.plugins.module_utils import _node_labels as node_labels
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._node_feature_config import merge_classes, merge_config

PCI = "feature.node.kubernetes.io/pci-10de.present"
MISSPELT = "AllInstanceComponentsAreDeployedSuccessfuly"


def params(**given: t.Any) -> dict[str, t.Any]:
    plain = {
        "name": "nfd-instance",
        "namespace": "openshift-nfd",
        "pci_classes": ["02", "03", "12"],
        "label_fields": ["vendor"],
        "rules": [],
        "expect": [],
        "grace": 60,
    }
    return plain | given


def instance(name: str = "nfd-instance", config: str | None = None, **conditions: str) -> dict[str, t.Any]:
    found = [{"type": kind, "status": value, "reason": MISSPELT, "message": "m"} for kind, value in conditions.items()]
    spec = {} if config is None else {"workerConfig": {"configData": config}}
    return {"kind": "NodeFeatureDiscovery", "metadata": {"name": name, "namespace": "openshift-nfd"}, "spec": spec, "status": {"conditions": found}}


def node(name: str = "gpu-0", taints: list[dict[str, str]] | None = None, **labels: str) -> dict[str, t.Any]:
    return {
        "metadata": {"name": name, "labels": {"pool": "a"} | {key.replace("__", "/"): value for key, value in labels.items()}},
        "spec": {"taints": taints or []},
    }


@pytest.mark.parametrize(
    ("existing", "wanted", "expected"),
    [
        ([], ["02"], ["02"]),
        (["0200"], ["02"], ["0200", "02"]),
        (["02"], ["0200", "0207"], ["02"]),
        (["03", "0b40", "12"], ["03", "12"], ["03", "0b40", "12"]),
        ([12, "03"], ["12"], ["12", "03"]),
    ],
)
def test_classes_match_by_prefix_and_none_is_lost(existing: list[t.Any], wanted: list[str], expected: list[str]) -> None:
    assert merge_classes(existing, wanted) == expected


def test_a_configuration_that_has_everything_stays_as_written() -> None:
    config = "# by the network team\nsources:\n  pci: {deviceClassWhitelist: ['02', '03', '12'], deviceLabelFields: [vendor]}\n"
    assert merge_config(config, ["0200", "03"], ["vendor"]) is config


def test_what_is_missing_is_added_and_the_rest_kept() -> None:
    config = "core: {sleepInterval: 30s}\nsources:\n  usb: {deviceClassWhitelist: ['0e']}\n  pci:\n    deviceClassWhitelist: ['0c03']\n"
    merged = yaml.safe_load(merge_config(config, ["02", "03"], ["vendor"]))
    assert merged["core"] == {"sleepInterval": "30s"}
    assert merged["sources"]["usb"] == {"deviceClassWhitelist": ["0e"]}
    assert merged["sources"]["pci"] == {"deviceClassWhitelist": ["0c03", "02", "03"], "deviceLabelFields": ["vendor"]}


def test_setting_the_list_keeps_what_the_worker_took_before() -> None:
    assert yaml.safe_load(merge_config("", ["02"], ["vendor"]))["sources"]["pci"]["deviceClassWhitelist"] == ["03", "0b40", "12", "02"]


@pytest.mark.parametrize("config", ["a: [", "- list", "just text"])
def test_a_broken_configuration_is_not_replaced(config: str) -> None:
    with pytest.raises(InputError) as caught:
        merge_config(config, ["02"], ["vendor"])
    assert caught.value.code == "NFD-CONFIG"


def test_the_image_is_never_pinned() -> None:
    manifest = node_feature.build(params(worker_tolerations=[{"key": "a", "operator": "Exists", "value": None}]), None)
    assert "image" not in manifest["spec"]["operand"]
    assert manifest["spec"]["operand"]["workerTolerations"] == [{"key": "a", "operator": "Exists"}]


def test_a_second_run_builds_the_same() -> None:
    first = node_feature.build(params(), None)
    assert node_feature.build(params(), first) == first


def test_a_foreign_instance_is_completed_only() -> None:
    live = instance("theirs", "sources: {pci: {deviceClassWhitelist: ['02', '03', '12'], deviceLabelFields: [class, vendor]}}")
    assert node_feature.difference(params(), live) == {}
    assert node_feature.choose([live], "nfd-instance") is live
    first, second = node_feature.doubts(params(), live)
    assert "used instead of nfd-instance" in first
    assert "['class', 'vendor']" in second
    assert "workerConfig" in node_feature.difference(params(pci_classes=["0b"]), live)["spec"]


@pytest.mark.parametrize(("namespaced", "place"), [(True, {"namespace": "openshift-nfd"}), (False, {})])
def test_rules_go_where_the_cluster_serves_them(namespaced: bool, place: dict[str, str]) -> None:
    (rule,) = node_feature.rules(params(rules=[{"name": "r", "rules": [{"name": "x"}]}]), "nfd.k8s-sigs.io/v1alpha1", namespaced)
    assert rule["metadata"] == {"name": "r", **place}
    assert rule["spec"] == {"rules": [{"name": "x"}]}


def expect(**labels: t.Any) -> dict[str, t.Any]:
    return {"nodes": None, "node_selector": {"pool": "a"}, "count": 1, "labels": {key.replace("__", "/"): value for key, value in labels.items()}}


def judged(nodes: list[dict[str, t.Any]], expectation: dict[str, t.Any], live: dict[str, t.Any] | None = None, clock: float = 0.0) -> t.Any:
    now = [0.0]
    judge = node_feature.Judge(params(expect=[expectation]), lambda: now[0])
    snapshot = {"instances": [live or instance(Available="True")], "nodes": nodes}
    judge(snapshot)
    now[0] = clock
    return judge(snapshot)


GPU = {"metadata": {"name": "gpu-0", "labels": {"pool": "a", PCI: "true"}}, "spec": {}}
LONG = {"metadata": {"name": "gpu-0", "labels": {"pool": "a", PCI.replace("10de", "0302_10de"): "true"}}, "spec": {}}
NO_EXECUTE = [{"key": "maintenance", "effect": "NoExecute"}]
PASSING_TAINT = [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]


@pytest.mark.parametrize(
    ("nodes", "wanted", "verdict", "code", "words"),
    [
        ([GPU], {PCI: True}, "ready", "", ""),
        ([LONG], {PCI: "true"}, "ready", "", ""),
        ([GPU], {PCI: None}, "pending", "NFD-LABEL-MISSING", "which must be absent"),
        ([GPU, node("gpu-1")], {PCI: True}, "pending", "NFD-LABEL-MISSING", f"gpu-1: lacks {PCI}=true"),
        ([node(a="1")], {"a": 2}, "pending", "NFD-LABEL-MISSING", "gpu-0: has a=1, expected 2"),
        ([node(a="1")], {"a": 1}, "ready", "", ""),
        ([], {PCI: True}, "pending", "NFD-NODES", "0 of 1 nodes are there (pool=a)"),
        ([node(taints=NO_EXECUTE)], {PCI: True}, "failed", "NFD-TAINT", "maintenance:NoExecute"),
        ([node(taints=PASSING_TAINT)], {PCI: True}, "pending", "NFD-LABEL-MISSING", "lacks"),
    ],
)
def test_expectations(nodes: list[dict[str, t.Any]], wanted: dict[str, t.Any], verdict: str, code: str, words: str) -> None:
    found = judged(nodes, expect() | {"labels": wanted})
    assert (found.verdict, found.code) == (verdict, code)
    assert words in f"{found.message} {' '.join(found.details)}"


def test_named_nodes_have_to_be_there() -> None:
    found = judged([GPU], expect() | {"nodes": ["gpu-0", "gpu-7"], "labels": {PCI: True}})
    assert (found.code, "gpu-7" in found.message) == ("NFD-NODES", True)


@pytest.mark.parametrize(
    ("live", "clock", "verdict", "code"),
    [
        (instance(Available="True", Degraded="False"), 0, "ready", ""),
        (instance(Available="False", Progressing="True"), 300, "pending", "NFD-NOTREADY"),
        (instance(), 0, "pending", "NFD-NOTREADY"),
        (instance("another"), 0, "pending", "NFD-NOTREADY"),
        (instance(Available="False", Degraded="True"), 30, "pending", "NFD-DEGRADED"),
        (instance(Available="False", Degraded="True"), 60, "failed", "NFD-DEGRADED"),
    ],
)
def test_the_instance(live: dict[str, t.Any], clock: float, verdict: str, code: str) -> None:
    found = judged([GPU], expect() | {"labels": {PCI: True}}, live, clock)
    assert (found.verdict, found.code) == (verdict, code)


@pytest.mark.parametrize(
    ("live", "clock", "verdict"),
    [
        (instance(Available="True"), 59, "pending"),
        (instance(Available="True"), 60, "failed"),
        (instance(Available="False", Progressing="True"), 300, "pending"),
    ],
)
def test_a_label_that_no_running_worker_publishes_is_not_waited_for(live: dict[str, t.Any], clock: float, verdict: str) -> None:
    found = judged([node()], expect() | {"labels": {PCI: True}}, live, clock)
    assert found.verdict == verdict
    assert f"gpu-0: lacks {PCI}=true" in " ".join(found.details)


def test_the_summary_shows_feature_labels() -> None:
    facts = node_feature.summarize({"instances": [instance(Available="True")], "nodes": [GPU]}, params(expect=[expect()]))
    assert facts["available"] is True
    assert facts["nodes"] == [{"name": "gpu-0", "labels": {PCI: "true"}}]


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([], None),
        ([{"pool": "a"}], "pool in (a)"),
        ([{"pool": "b"}, {"pool": "a", "x": "1"}], "pool in (a,b)"),
        ([{"pool": "a"}, {}], None),
        ([{"gpu": True}], "gpu in (true)"),
    ],
)
def test_the_selector_that_all_share(selectors: list[dict[str, t.Any]], expected: str | None) -> None:
    assert node_labels.common_selector(selectors) == expected
