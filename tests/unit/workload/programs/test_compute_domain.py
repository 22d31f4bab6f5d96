"""Program compute_domain: a pod of each node in an NVLink domain has exactly one IMEX channel."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer
from unit.workload.builders import MARK, SLICES, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import claims as gpu_claims
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import (
    judge,
    pods as workload_pods,
    steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import compute_domain
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    GpuNode,
    Settings,
)

SETTINGS: t.Final = Settings("compute_domain")
LIST: t.Final = "GPU 0: NVIDIA GB200 (UUID: GPU-6c1440da-b4a3-51b0-929a-330ae814498b)\n"
CLIQUE: t.Final = {"nvidia.com/gpu.clique": "3f1c2f7e-8b1d-4d1b-9a55-0f6e2d7c8a10.0"}
PLACE: t.Final = "/apis/resource.nvidia.com/v1beta1/namespaces/gpu-validation/computedomains"
CLAIM: t.Final = {"name": "channel", "resourceClaimTemplateName": "channel-r1"}


def test_one_channel_passes() -> None:
    found = compute_domain.parse(f"{LIST}imex channels: channel0\n", SETTINGS)
    assert (found.passed, found.findings, found.extra) == (True, (), {"channels": ["channel0"]})
    assert found.uuids == ("GPU-6c1440da-b4a3-51b0-929a-330ae814498b",)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("imex channels:\n", "has 0 devices (none)"),
        ("imex channels: channel0 channel1\n", "has 2 devices (channel0, channel1)"),
    ],
)
def test_none_or_several_channels_fail_with_their_code(line: str, why: str) -> None:
    found = compute_domain.parse(LIST + line, SETTINGS)
    (finding,) = found.findings
    assert (found.passed, finding.status, finding.code) == (False, "fail", "WORK-IMEX-CHANNEL")
    assert why in finding.text


def test_a_log_without_the_line_is_no_statement_about_channels() -> None:
    found = compute_domain.parse(LIST, SETTINGS)
    assert (found.passed, found.findings) == (False, ())


def test_a_node_without_a_clique_is_in_no_domain() -> None:
    assert "no NVLink domain" in compute_domain.unfit(SETTINGS, GpuNode())
    assert "no NVLink domain" in workload_pods.unfit(node(), params(benchmark="compute_domain"))
    assert workload_pods.unfit(node(labels=CLIQUE), params(benchmark="compute_domain")) == ""


@pytest.mark.parametrize("claims", [False, True])
def test_one_pod_of_a_node_claims_a_channel_beside_all_its_gpus(claims: bool) -> None:
    asked = params(benchmark="compute_domain", claims=claims)
    found = node(labels=CLIQUE)
    (pod,) = workload_pods.pods(asked, [gpu_claims.offering(found, SLICES) if claims else found], MARK)
    gpus = [{"name": "gpu", "resourceClaimTemplateName": "2-gpus-r1"}] if claims else []
    assert pod["spec"]["resourceClaims"] == [*gpus, CLAIM]
    resources = pod["spec"]["containers"][0]["resources"]
    assert resources["claims"] == [{"name": claim["name"]} for claim in [*gpus, CLAIM]]
    assert resources["limits"].get("nvidia.com/gpu") == (None if claims else "2")
    made = workload_pods.needs(asked, [pod], MARK)
    names = [(one["kind"], one["metadata"]["name"]) for one in made]
    templates = [("ResourceClaimTemplate", "2-gpus-r1")] if claims else []
    assert names == [*templates, ("ComputeDomain", "channel-r1")]
    assert made[-1]["spec"] == {
        "numNodes": 0,
        "channel": {"resourceClaimTemplate": {"name": "channel-r1"}, "allocationMode": "Single"},
    }


def test_other_programs_need_no_domain() -> None:
    asked = params()
    assert workload_pods.needs(asked, workload_pods.pods(asked, [node()], MARK), MARK) == []


def test_a_pod_that_waits_for_its_channel_says_so() -> None:
    (pod,) = workload_pods.pods(params(benchmark="compute_domain"), [node(labels=CLIQUE)], MARK)
    waiting = judge.judge_pod({**pod, "status": {"phase": "Pending"}})
    assert (waiting.verdict, waiting.code) == ("pending", "WORK-IMEX-CHANNEL")
    assert "has not started" in waiting.message
    assert judge.judge_pod({**pod, "status": {"phase": "Running"}}).code == "WORK-RUNNING"


class World:
    """A cluster with a node in an NVLink domain, and with one in none."""

    def __init__(self, *more: str, channels: str = "channel0") -> None:
        kinds = ("Job", "Node", "Namespace", "Pod", "ConfigMap", "ServiceAccount", "Lease", "PriorityClass")
        self.server, self.channels = FakeServer(*kinds, *more), channels
        for name, labels in (("gpu-0", CLIQUE), ("gpu-1", {})):
            self.server.put({"apiVersion": "v1", "kind": "Node", **node(name, labels=labels)})
        account = {"name": "default", "namespace": "gpu-validation"}
        self.server.put({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        self.server.request = self.answer
        self.domains: list[dict[str, t.Any]] = []

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if "/log?" in url or url.endswith("/log"):
            return Answer(200, f"{LIST}imex channels: {self.channels}\n")
        answered = self.server.answer(method, url, body, **more)
        for key, made in self.server.objects.items():
            if key[1] == "pods" and "dryRun" not in url:
                ended = {"name": "benchmark", "state": {"terminated": {"exitCode": 0}}}
                made["status"] = {"phase": "Succeeded", "containerStatuses": [ended]}
            if key[1] == "computedomains" and made not in self.domains:
                self.domains.append(made)
        return answered

    def api(self, **more: t.Any) -> Api:
        return api_on(self.server, FakeClock(), run=Run("root", "bastion", "", 1, "1"), **more)

    def run(self) -> dict[str, t.Any]:
        return steps.present(self.api(), params(benchmark="compute_domain"))


def test_a_node_of_a_domain_passes_and_the_other_is_not_run() -> None:
    world = World("ComputeDomain")
    found = {one["name"]: one["programs"][0] for one in world.run()["workload"]["nodes"]}
    assert (found["gpu-0"]["outcome"], found["gpu-0"]["code"]) == ("passed", "")
    assert (found["gpu-1"]["outcome"], found["gpu-1"]["reason"]) == ("not_run", "not_applicable")
    assert "no NVLink domain" in found["gpu-1"]["message"]
    (made,) = world.domains
    (owner,) = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == (
        "Job",
        made["metadata"]["name"].replace("channel", "validation"),
    )
    paths = [path for method, path in world.server.writes() if method == "POST"]
    assert paths.index(PLACE) < paths.index("/api/v1/namespaces/gpu-validation/pods")


def test_two_channels_fail_the_node() -> None:
    with pytest.raises(NotReadyError) as caught:
        World("ComputeDomain", channels="channel0 channel1").run()
    assert caught.value.code == "WORK-IMEX-CHANNEL"
    assert "Node gpu-0" in caught.value.message
    assert "channel0, channel1" in caught.value.message


def test_a_cluster_without_the_kind_is_refused_before_the_first_pod() -> None:
    world = World()
    with pytest.raises(NotReadyError) as caught:
        world.run()
    assert (caught.value.code, world.server.writes()) == ("WORK-IMEX-KIND", [])
    (first, _other) = caught.value.facts["workload"]["nodes"]
    assert (first["programs"][0]["outcome"], first["programs"][0]["code"]) == ("not_run", "WORK-IMEX-KIND")


def test_check_mode_only_warns_of_the_kind_that_an_earlier_stage_may_bring() -> None:
    api = World().api(check_mode=True)
    steps.present(api, params(benchmark="compute_domain"))
    assert any("no kind ComputeDomain" in text for text in api.warnings)
