"""Before an operator is installed: the releases of OpenShift that its maker supports."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import support

GPU = "gpu-operator-certified"
SETTING = "gpu_operator_channel or gpu_operator_csv"


def cluster(version: str) -> KubeObject:
    history = [{"state": "Partial", "version": "4.99.0"}, {"state": "Completed", "version": version}]
    return {"status": {"history": history}}


@pytest.mark.parametrize(
    ("package", "csv", "version", "words"),
    [
        (GPU, f"{GPU}.v26.7.0", "4.22.5", ""),
        (GPU, f"{GPU}.v26.7.0", "4.18.0", ""),
        (GPU, f"{GPU}.v26.7.0", "4.23.1", "supported on OpenShift 4.18 to 4.22"),
        (GPU, f"{GPU}.v25.10.1", "4.22.5", "4.14 to 4.20"),
        (GPU, f"{GPU}.v24.9.0", "4.22.5", ""),
        ("nvidia-network-operator", "nvidia-network-operator.v26.7.0", "4.23.1", "4.17 to 4.22"),
        ("nvidia-network-operator", "nvidia-network-operator.v26.7.0-1", "4.22.5", ""),
        ("nfd", "nfd.v4.22.0-202607141007", "4.23.1", ""),
    ],
)
def test_a_release_that_the_maker_does_not_name_yet_is_a_warning(
    package: str, csv: str, version: str, words: str
) -> None:
    told = support.check(package, csv, cluster(version), SETTING)
    assert words in told
    assert bool(told) is bool(words)


def test_a_release_that_is_too_old_for_the_operator_is_refused() -> None:
    with pytest.raises(AcceleratorError, match=r"OpenShift 4\.18 to") as caught:
        support.check(GPU, f"{GPU}.v26.7.0", cluster("4.16.30"), SETTING)
    assert caught.value.code == "OLM-SUPPORT"
    assert f"Set {SETTING} to a release" in caught.value.remedy
    assert "OpenShift 4.16" in caught.value.remedy
    assert support.check(GPU, f"{GPU}.v26.3.3", cluster("4.16.30"), SETTING) == ""


def test_an_unknown_release_says_nothing() -> None:
    assert support.check(GPU, f"{GPU}.v26.7.0", None, SETTING) == ""
    assert support.check(GPU, "", cluster("4.22.5"), SETTING) == ""


@pytest.mark.parametrize(
    ("csv", "models", "is_refused"),
    [
        ("gpu-operator-certified.v26.7.0", ["T4", "V100"], True),
        ("gpu-operator-certified.v26.7.0", ["T4"], False),
        ("gpu-operator-certified.v26.3.3", ["V100"], False),
        ("gpu-operator-certified", ["V100"], False),
    ],
)
def test_a_first_operator_whose_driver_does_not_support_the_gpus(
    csv: str, models: list[str], is_refused: bool
) -> None:
    if not is_refused:
        support.refuse_driver(csv, models)
        return
    with pytest.raises(AcceleratorError, match="branch 595, and 580 is the last branch") as caught:
        support.refuse_driver(csv, models)
    assert (caught.value.code, "version: 580." in caught.value.remedy) == ("GPU-DRV-BRANCH", True)
