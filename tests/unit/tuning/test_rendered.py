"""Is a rendered configuration up to date with its sources."""

from __future__ import annotations

from unit.engine import FakeClock
from unit.tuning.builders import NEW, done
from unit.tuning.operator_in_memory import config, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    FAILED,
    PENDING,
    READY,
    Grace,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import machine_config, rendered
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import Isolation

KUBELET = "99-gpu-training-generated-kubelet"


def with_file(one: KubeObject, text: str) -> KubeObject:
    files = [{"path": "/etc/kubernetes/kubelet.conf", "contents": {"source": text}}]
    return {**one, "spec": {**one["spec"], "config": {"storage": {"files": files}}}}


def test_sources_of_each_way() -> None:
    one = tuning(isolate=Isolation("0-1", "2-7"))
    plain = machine_config.manifests(one, served=False)
    assert rendered.sources("training", plain) == ["99-gpu-training-kernel", KUBELET]
    profile = machine_config.manifests(one, served=True)
    assert rendered.sources("training", profile) == [
        "50-performance-gpu-training",
        "50-nto-gpu-training",
        KUBELET,
    ]
    assert rendered.sources("training", machine_config.manifests(tuning(), True)) == [
        "99-gpu-training-kernel"
    ]


def test_kernel_arguments_of_all_sources_count() -> None:
    parts = [config("00-worker", "worker", "quiet"), config("99-gpu-training-kernel", "x", "iommu=pt")]
    assert rendered.is_rendered(config("rendered", "", "quiet", "iommu=pt"), parts, [])
    assert not rendered.is_rendered(config("rendered", "", "quiet"), parts, [])
    assert not rendered.is_rendered(config("rendered", "", "quiet", "iommu=pt", "old"), parts, []), "one went"


def test_files_of_the_own_sources_count() -> None:
    parts = [with_file(config(KUBELET, "x"), "new"), with_file(config("01-worker-kubelet", "worker"), "base")]
    assert rendered.is_rendered(with_file(config("rendered", ""), "new"), parts, [KUBELET])
    assert not rendered.is_rendered(with_file(config("rendered", ""), "old"), parts, [KUBELET])


def test_what_is_rendered() -> None:
    judge = rendered.Rendered({"gpu-a": ["99-gpu-a-kernel"]}, [], [], Grace(FakeClock(), 60.0, ()))
    assert judge({"pools": [done()]}).is_ready
    judge.stale = {"gpu-a": NEW}
    assert judge({"pools": [done()]}).verdict == PENDING
    judge.sources = {"gpu-a": ["99-gpu-a-generated-kubelet"]}
    assert "99-gpu-a-generated-kubelet is not rendered yet" in judge({"pools": [done()]}).message
    assert judge({"pools": []}).verdict == PENDING


def test_a_refused_object_counts_for_its_pool_alone() -> None:
    late: set[str] = set()
    refused = {"type": "Failure", "status": "False", "message": "Error: no"}
    kubelet = {"metadata": {"name": "gpu-b", "generation": 1}, "status": {"conditions": [refused]}}
    sources: dict[str, list[str]] = {"gpu-a": ["99-gpu-a-kernel"], "gpu-b": ["99-gpu-b-generated-kubelet"]}
    judge = rendered.Rendered(sources, ["gpu-b"], [], Grace(FakeClock(), 60.0, ()), late)
    snapshot = {"pools": [done()], "kubelets": [kubelet]}
    assert judge(snapshot).verdict == FAILED
    assert {object_name: one.verdict for object_name, one in judge.verdicts.items()} == {
        "gpu-a": READY,
        "gpu-b": FAILED,
    }
    late.add("gpu-b")
    assert judge(snapshot).is_ready
