"""The variables of Node Feature Discovery end the failures whose remedies name them."""

from __future__ import annotations

import typing as t

from unit.engine import api_on
from unit.fake_server import Answer, FakeServer
from unit.managed import live
from unit.nfd.builders import PCI, instance, node, params
from unit.remedies.case import Case, Cases, Options, ensured, loaded

from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import instance as nfd_instance
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import untolerated

NFD: t.Final = "node_feature_discovery"
TAINT: t.Final = {"key": "maintenance", "effect": "NoExecute"}
COMPLETE: t.Final = "sources: {pci: {deviceClassWhitelist: ['02', '03', '12'], deviceLabelFields: [vendor]}}"
ARGO: t.Final = {"argocd.argoproj.io/tracking-id": "gitops:nfd.openshift.io/NodeFeatureDiscovery:a/nfd"}
SELECTOR: t.Final = {"node_selector": {"pool": "a"}}
WRONG_RULE: t.Final = "[{name: a, rules: [{name: b, taints: [{key: example.com/a}]}]}]"
RULE: t.Final = "[{name: a, rules: [{name: b, taints: [{key: example.com/a, effect: NoSchedule}]}]}]"
WRONG_FEATURE: t.Final = "[{name: a, node_selector: {pool: a}}]"
FEATURE: t.Final = "[{name: a, node_selector: {pool: a}, labels: {example.com/rack: r1}}]"
NODES: t.Final = "gpu: {node_selector: {pool: a}}"


GPU_NODE: t.Final[dict[str, t.Any]] = {"apiVersion": "v1", "kind": "Node", **node(taints=[TAINT])}


def foreign(config: str, **annotations: str) -> dict[str, t.Any]:
    """Return an instance that the collection did not make."""
    theirs = instance(config=config, Available="True")
    return {
        "apiVersion": nfd_instance.build(params(), None)["apiVersion"],
        **theirs,
        "metadata": {**theirs["metadata"], "annotations": annotations},
    }


def labels(options: Options, *objects: dict[str, t.Any], **more: t.Any) -> str | None:
    """Run nfd_labels without a wait, as the preflight of the role does."""
    server = FakeServer("NodeFeatureDiscovery", "Node", "Deployment")
    for one in objects:
        server.put(one)
    given = {"namespace": "openshift-nfd", "wait": False, **more, **options}
    return ensured("nfd_labels", api_on(server, check_mode=True), given)


def managed(options: Options) -> str | None:
    return labels(options, foreign("", **ARGO))


def tainting(options: Options) -> str | None:
    return labels(options, foreign(COMPLETE), rules=loaded(RULE))


class Workers(FakeServer):
    """Nodes get the labels of nfd-worker where the instance has it tolerate their taints."""

    def _write(self, *given: t.Any) -> Answer:
        answer = super()._write(*given)
        for one in [*self.objects.values()]:
            tolerated = untolerated(GPU_NODE, nfd_instance.worker_tolerations(one)) == []
            if one["kind"] == "NodeFeatureDiscovery" and tolerated:
                self.put({**GPU_NODE, **node(taints=[TAINT], **{PCI: "true"}), "kind": "Node"})
        return answer


def tainted(options: Options) -> str | None:
    """Expect the labels of GPUs on a node whose taint nfd-worker does not tolerate."""
    server = Workers("NodeFeatureDiscovery", "Node", "Deployment")
    ready = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    server.put({**live(nfd_instance.build(params(), None)), **ready})
    server.put(GPU_NODE)
    expect = [{**SELECTOR, "min_nodes": 1, "labels": {PCI: True}}]
    given = {"namespace": "openshift-nfd", "expect": expect, "settle": 0, **options}
    return ensured("nfd_labels", api_on(server), given)


CASES: t.Final[Cases] = {
    ("NFD-COMPARE", f"{NFD}_compare"): Case(
        "nfd_labels",
        lambda options: labels(options, {"apiVersion": "v1", "kind": "Node", **node()}),
        before="{" + NODES + "}",
        value="{" + NODES + ", rest: {}}",
    ),
    ("NFD-FEATURE", f"{NFD}_features"): Case("nfd_labels", labels, before=WRONG_FEATURE, value=FEATURE),
    ("NFD-MANAGED", f"{NFD}_adopt"): Case("nfd_labels", managed),
    ("NFD-PCI", f"{NFD}_pci_classes"): Case("nfd_labels", labels, before='["0x03"]', value='["03"]'),
    ("NFD-RULE", f"{NFD}_rules"): Case("nfd_labels", labels, before=WRONG_RULE, value=RULE),
    ("NFD-TAINT", f"{NFD}_worker_tolerations"): Case("nfd_labels", tainted),
    ("NFD-TAINTS", f"{NFD}_adopt"): Case("nfd_labels", tainting),
}
