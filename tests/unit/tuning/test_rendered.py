"""Is a rendered configuration up to date with its sources."""

from __future__ import annotations

from unit.tuning.operator_in_memory import config, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
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
