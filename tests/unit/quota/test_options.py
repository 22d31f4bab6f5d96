"""Options of gpu_quota: a list of quotas, and what is refused before the first request."""

from __future__ import annotations

import pytest
from unit.quota.builders import GPU
from unit.quota.test_steps import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import options


def test_one_quota_or_a_list_of_quotas() -> None:
    (single,) = options.read(params(quotas=None, namespace="team-a") | {"gpus": 2})
    assert (single.object_name, single.limits) == ("team-a/gpu-quota", {GPU: "2"})
    assert [one.object_name for one in options.read(params("a", "b"))] == ["a/gpu-quota", "b/gpu-quota"]
    assert options.named(params(quotas=None, namespace="team-a")) == [("team-a", "gpu-quota")]


def test_a_namespace_of_the_platform_is_named_by_its_option() -> None:
    with pytest.raises(InputError, match=r"^namespace: "):
        options.read(params(quotas=None, namespace="default") | {"gpus": 2})


def test_a_quota_that_is_in_the_list_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"quotas\[1\]: quota a/gpu-quota is in the list twice"):
        options.read(params("a", "a"))


def test_a_wrong_key_is_named_by_its_place_in_the_list() -> None:
    asked = params("a", "b")
    assert asked["quotas"]
    asked["quotas"][1].update({"gpus": None, "hard": {"limits.nvidia.com/gpu": 1}})
    with pytest.raises(InputError) as caught:
        options.read(asked)
    assert caught.value.code == "QUOTA-KEY"
    assert caught.value.message.startswith("quotas[1] (b): hard")
    assert GPU in caught.value.remedy


def test_which_new_namespaces_are_created() -> None:
    assert options.refused_namespace("vision", None, ["speech"]) == ""
    assert "near to the existing namespace vision" in options.refused_namespace("vison", [], ["vision"])
    assert options.refused_namespace("vison", ["vison"], ["vision"]) == ""
    assert "not in the list" in options.refused_namespace("other", ["vison"], [])
