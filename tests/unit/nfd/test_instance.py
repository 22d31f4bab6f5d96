"""Node feature discovery: configuration merged and never replaced, expectations about labels."""

from __future__ import annotations

import typing as t

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import (
    config,
    expectation as nfd_expectation,
    instance as nfd_instance,
    report,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd.config import (
    merge_classes,
    merge_config,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import labels as node_labels

PCI = "feature.node.kubernetes.io/pci-10de.present"
MISSPELT = "AllInstanceComponentsAreDeployedSuccessfuly"


def params(**given: t.Any) -> dict[str, t.Any]:
    plain = {
        "name": "nfd-instance",
        "namespace": "openshift-nfd",
        "pci_classes": ["02", "03", "12"],
        "label_fields": ["vendor"],
        "adopt": "report",
        "worker_tolerations": None,
        "rules": [],
        "features": [],
        "expect": [],
        "compare": None,
        "grace": 60,
    }
    return plain | given


def instance(name: str = "nfd-instance", config: str | None = None, **conditions: str) -> dict[str, t.Any]:
    found = [
        {"type": kind, "status": value, "reason": MISSPELT, "message": "m"}
        for kind, value in conditions.items()
    ]
    spec = {} if config is None else {"workerConfig": {"configData": config}}
    metadata = {"name": name, "namespace": "openshift-nfd", "uid": f"uid-{name}"}
    return {
        "kind": "NodeFeatureDiscovery",
        "metadata": metadata,
        "spec": spec,
        "status": {"conditions": found},
    }


def node(name: str = "gpu-0", taints: list[dict[str, str]] | None = None, **labels: str) -> dict[str, t.Any]:
    return {
        "metadata": {
            "name": name,
            "labels": {"pool": "a"} | {key.replace("__", "/"): value for key, value in labels.items()},
        },
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
def test_classes_match_by_prefix_and_none_is_lost(
    existing: list[t.Any], wanted: list[str], expected: list[str]
) -> None:
    assert merge_classes(existing, wanted) == expected


def test_a_configuration_that_has_everything_stays_as_written() -> None:
    config = "# by the network team\nsources:\n  pci: {deviceClassWhitelist: ['02', '03', '12'], deviceLabelFields: [vendor]}\n"
    assert merge_config(config, ["0200", "03"], ["vendor"]) is config


def test_what_is_missing_is_added_and_the_rest_kept() -> None:
    config = "core: {sleepInterval: 30s}\nsources:\n  usb: {deviceClassWhitelist: ['0e']}\n  pci:\n    deviceClassWhitelist: ['0c03']\n"
    merged = yaml.safe_load(merge_config(config, ["02", "03"], ["vendor"]))
    assert merged["core"] == {"sleepInterval": "30s"}
    assert merged["sources"]["usb"] == {"deviceClassWhitelist": ["0e"]}
    assert merged["sources"]["pci"] == {
        "deviceClassWhitelist": ["0c03", "02", "03"],
        "deviceLabelFields": ["vendor"],
    }


def test_setting_the_list_keeps_what_the_worker_took_before() -> None:
    assert yaml.safe_load(merge_config("", ["02"], ["vendor"]))["sources"]["pci"]["deviceClassWhitelist"] == [
        "03",
        "0b40",
        "12",
        "02",
    ]


@pytest.mark.parametrize("config", ["a: [", "- list", "just text"])
def test_a_broken_configuration_is_not_replaced(config: str) -> None:
    with pytest.raises(InputError) as caught:
        merge_config(config, ["02"], ["vendor"])
    assert caught.value.code == "NFD-CONFIG"


def test_the_image_is_never_pinned() -> None:
    manifest = nfd_instance.build(
        params(worker_tolerations=[{"key": "a", "operator": "Exists", "value": None}]), None
    )
    assert "image" not in manifest["spec"]["operand"]
    assert manifest["spec"]["operand"]["workerTolerations"] == [{"key": "a", "operator": "Exists"}]


def test_a_second_run_builds_the_same() -> None:
    first = nfd_instance.build(params(), None)
    assert nfd_instance.build(params(), first) == first


def test_a_foreign_instance_is_completed_only() -> None:
    live = instance(
        "theirs",
        "sources: {pci: {deviceClassWhitelist: ['02', '03', '12'], deviceLabelFields: [class, vendor]}}",
    )
    assert nfd_instance.difference(params(), live) == {}
    assert nfd_instance.choose([live], "nfd-instance", "openshift-nfd") is live
    first, second = nfd_instance.doubts(params(), [live], live)
    assert "used instead of nfd-instance" in first
    assert "['class', 'vendor']" in second
    assert "workerConfig" in nfd_instance.difference(params(pci_classes=["0b"]), live)["spec"]


def expect(**labels: t.Any) -> dict[str, t.Any]:
    return {
        "nodes": None,
        "node_selector": {"pool": "a"},
        "count": 1,
        "labels": {key.replace("__", "/"): value for key, value in labels.items()},
    }


def judged(
    nodes: list[dict[str, t.Any]],
    expectation: dict[str, t.Any],
    live: dict[str, t.Any] | None = None,
    clock: float = 0.0,
) -> t.Any:
    now = [0.0]
    judge = nfd_expectation.Judge(params(expect=[expectation]), lambda: now[0])
    snapshot = {"instances": [live or instance(Available="True")], "nodes": nodes}
    judge(snapshot)
    now[0] = clock
    return judge(snapshot)


GPU = {"metadata": {"name": "gpu-0", "labels": {"pool": "a", PCI: "true"}}, "spec": {}}
LONG = {
    "metadata": {"name": "gpu-0", "labels": {"pool": "a", PCI.replace("10de", "0302_10de"): "true"}},
    "spec": {},
}
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
def test_expectations(
    nodes: list[dict[str, t.Any]], wanted: dict[str, t.Any], verdict: str, code: str, words: str
) -> None:
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
def test_a_label_that_no_running_worker_publishes_is_not_waited_for(
    live: dict[str, t.Any], clock: float, verdict: str
) -> None:
    found = judged([node()], expect() | {"labels": {PCI: True}}, live, clock)
    assert found.verdict == verdict
    assert f"gpu-0: lacks {PCI}=true" in " ".join(found.details)


def test_the_summary_shows_feature_labels() -> None:
    facts = report.summarize(
        {"instances": [instance(Available="True")], "nodes": [GPU]}, params(expect=[expect()]), []
    )
    assert facts["available"] is True
    assert facts["nodes"] == [
        {"name": "gpu-0", "labels": {PCI: "true"}, "families": {"pci": {"10de.present": "true"}}}
    ]


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([], None),
        ([{"pool": "a"}], "pool in (a)"),
        ([{"pool": "b"}, {"pool": "a", "x": "1"}], "pool in (a,b)"),
        ([{"pool": "a"}, {}], None),
        ([{"gpu": True}], "gpu in (true)"),
        ([{"pool": "a", "gpu": None}], "pool in (a)"),
        ([{"pool": None}], None),
    ],
)
def test_the_selector_that_all_share(selectors: list[dict[str, t.Any]], expected: str | None) -> None:
    assert node_labels.common_selector(selectors) == expected


def test_a_null_in_a_selector_means_that_the_label_is_absent() -> None:
    nodes = [node("gpu-0", gpu="true"), node("cpu-0")]
    assert [
        one["metadata"]["name"]
        for one in node_labels.selected(nodes, {"node_selector": {"pool": "a", "gpu": None}})
    ] == ["cpu-0"]


# Brownfield

TAINTED = [
    {"name": "r", "rules": [{"name": "x", "taints": [{"key": "example.com/a", "effect": "NoSchedule"}]}]}
]
COMPLETE = "sources: {pci: {deviceClassWhitelist: ['02', '03', '0b40', '12'], deviceLabelFields: [class]}}"


def of_argo(live: dict[str, t.Any]) -> dict[str, t.Any]:
    live["metadata"]["annotations"] = {
        "argocd.argoproj.io/tracking-id": "gitops:nfd.openshift.io/NodeFeatureDiscovery:openshift-nfd/nfd-instance"
    }
    return live


def test_what_another_tool_keeps_is_not_fought() -> None:
    assert nfd_instance.difference(params(), of_argo(instance("a", COMPLETE))) == {}
    with pytest.raises(AcceleratorError) as caught:
        nfd_instance.difference(params(), of_argo(instance("a")))
    assert caught.value.code == "NFD-MANAGED"
    assert "Argo CD (gitops)" in caught.value.message
    assert "  - '02'" in "\n".join(caught.value.evidence)


def test_taints_are_not_switched_on_behind_somebody_s_back() -> None:
    with pytest.raises(AcceleratorError) as caught:
        nfd_instance.difference(params(rules=TAINTED), instance("a", COMPLETE))
    assert caught.value.code == "NFD-TAINTS"
    live = instance("a", COMPLETE)
    live["spec"]["enableTaints"] = True
    assert nfd_instance.difference(params(rules=TAINTED), live) == {}


def test_our_instance_gets_taints_with_the_first_rule_that_sets_some_and_keeps_them() -> None:
    first = nfd_instance.build(params(rules=TAINTED), None)
    assert first["spec"]["enableTaints"] is True
    assert nfd_instance.build(params(), first)["spec"]["enableTaints"] is True
    assert "enableTaints" not in nfd_instance.build(params(), None)["spec"]


def test_adoption_takes_the_fields_that_were_asked_for() -> None:
    live = instance("theirs", COMPLETE)
    live["spec"]["operand"] = {
        "image": "example.com/nfd:v1",
        "workerTolerations": [{"key": "b", "operator": "Exists"}],
    }
    taken = nfd_instance.adopted(
        params(rules=TAINTED, worker_tolerations=[{"key": "a", "operator": "Exists", "value": None}]), live
    )
    assert taken["metadata"] == {"name": "theirs", "namespace": "openshift-nfd"}
    config = yaml.safe_load(taken["spec"]["workerConfig"]["configData"])
    assert config["sources"]["pci"] == {
        "deviceClassWhitelist": ["02", "03", "0b40", "12"],
        "deviceLabelFields": ["vendor"],
    }
    assert taken["spec"]["operand"] == {
        "workerTolerations": [{"key": "b", "operator": "Exists"}, {"key": "a", "operator": "Exists"}]
    }
    assert taken["spec"]["enableTaints"] is True


def test_two_instances_and_a_pinned_image_are_explained() -> None:
    live, here, away = instance("a", COMPLETE), instance("b"), instance("c")
    away["metadata"]["namespace"] = "other"
    live["spec"]["operand"] = {"image": "example.com/nfd:v1"}
    _used, fields, pinned, two, elsewhere = nfd_instance.doubts(params(), [live, here, away], live)
    assert "adopt: take" in fields
    assert "pins operand.image to example.com/nfd:v1" in pinned
    assert "openshift-nfd has 2 NodeFeatureDiscoveries, a and b" in two
    assert "other/c exists as well" in elsewhere
    assert nfd_instance.choose([away], "c", "openshift-nfd") is None


def test_an_instance_without_a_node_for_its_workers_says_by_what() -> None:
    live = instance(Available="False", Degraded="True")
    live["spec"]["operand"] = {"workerNodeSelector": {"gpu": "yes"}}
    live["status"]["conditions"][1]["message"] = "number of desired nodes for scheduling is 0"
    found = nfd_instance.judge(live, "nfd-instance")
    assert (found.code, "operand.workerNodeSelector {'gpu': 'yes'}" in found.message) == (
        "NFD-DEGRADED",
        True,
    )


def deployment(name: str, available: str) -> dict[str, t.Any]:
    metadata = {
        "name": name,
        "namespace": "node-feature-discovery",
        "annotations": {"meta.helm.sh/release-name": "nfd"},
    }
    return {"metadata": metadata, "status": {"conditions": [{"type": "Available", "status": available}]}}


@pytest.mark.parametrize(("available", "verdict"), [("True", "ready"), ("False", "pending")])
def test_an_nfd_of_a_chart(available: str, verdict: str) -> None:
    charts = [deployment("nfd-gc", "True"), deployment("nfd-master", available)]
    snapshot = {"upstream": charts, "nodes": [GPU]}
    judge = nfd_expectation.Judge(params(expect=[expect() | {"labels": {PCI: True}}]), lambda: 0.0)
    assert judge(snapshot).verdict == verdict
    facts = report.summarize(snapshot, params(), [])
    assert (facts["name"], facts["namespace"], facts["manager"]) == (
        "",
        "node-feature-discovery",
        "Helm (nfd)",
    )
    assert "Namespace node-feature-discovery has an NFD of its own (Helm (nfd))" in report.upstream_found(
        charts, False
    )


# PCI classes


@pytest.mark.parametrize("entry", ["0x02", "0B40", "", "02 "])
def test_what_is_no_pci_class(entry: str) -> None:
    with pytest.raises(InputError) as caught:
        config.check_classes(["02", entry])
    assert "pci_classes[1]" in caught.value.message


def test_classes_are_explained() -> None:
    words = {
        one["class"]: one["lets_through"]
        for one in config.explain_classes(["0200", "02", "0302", "0b40", "ff"])
    }
    assert words["0200"] == "nothing more: 02 covers it"
    assert "InfiniBand (0207)" in words["02"]
    assert "no word" in words["ff"]
    assert "an InfiniBand adapter is 0207" in config.explain_classes(["0200"])[0]["lets_through"]


# Losses


def test_a_label_that_goes_and_comes_back_is_told_and_is_no_loss() -> None:
    now = [0.0]
    judge = nfd_expectation.Judge(params(expect=[expect() | {"labels": {PCI: True}}]), lambda: now[0])
    live, bare = instance(Available="True"), node()
    verdicts = []
    for at, seen in ((0.0, GPU), (1.0, bare), (3.5, bare), (4.0, GPU)):
        now[0] = at
        verdicts.append(judge({"instances": [live], "nodes": [seen]}).verdict)
    assert verdicts == ["ready", "pending", "pending", "ready"]
    assert judge.lost == [{"node": "gpu-0", "label": PCI, "seconds": 3.0}]
    assert f"Node gpu-0 was without {PCI} for 3.0 s" in report.doubts({"stale": [], "lost": judge.lost})[0]


def test_a_label_that_was_never_there_is_not_lost() -> None:
    judge = nfd_expectation.Judge(params(expect=[expect() | {"labels": {PCI: True}}]), lambda: 0.0)
    for seen in (node(), GPU):
        judge({"instances": [instance(Available="True")], "nodes": [seen]})
    assert (judge.lost, judge.missing) == ([], {})


# Two sets of nodes


@pytest.mark.parametrize(
    ("compare", "words"),
    [
        ({"gpu": {}}, "has 1 sets"),
        ({"gpu": {}, "cpu": {}}, "neither set"),
        ({"gpu": {"selector": {}}, "cpu": {}}, "compare.gpu is"),
        ({"gpu": "a", "cpu": {}}, "compare.gpu is"),
    ],
)
def test_compare_is_checked(compare: dict[str, t.Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        report.check(params(compare=compare))
    assert (caught.value.code, words in caught.value.message) == ("NFD-COMPARE", True)


def test_the_rest_are_workers() -> None:
    nodes = [GPU, node("cpu-0"), node("master-0", **{"node-role.kubernetes.io__control-plane": ""})]
    compare = {"gpu": {"nodes": ["gpu-0"]}, "cpu": {}}
    facts = report.summarize({"instances": [], "nodes": nodes}, params(compare=compare), [])
    assert facts["difference"]["sets"] == {"gpu": ["gpu-0"], "cpu": ["cpu-0"]}
    assert [one["kind"] for one in facts["difference"]["labels"]] == ["only gpu"]
    with pytest.raises(InputError):
        report.summarize({"instances": [], "nodes": [GPU]}, params(compare=compare), [])
    foretold = report.summarize(
        {"instances": [], "nodes": [GPU]}, params(compare=compare), [], predicted=True
    )["difference"]
    assert (foretold["labels"], foretold["table"]) == ([], ["compare.cpu finds no node yet."])
