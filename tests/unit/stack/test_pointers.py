# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels that name profiles, and names of ConfigMaps, Secrets and claims: what points to nothing is said."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.stack.builders import POOL, Snapshot, node, pod, unready

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import diagnose, pointers
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.judge import (
    CHAIN,
    PODS,
    judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.result import (
    summarize,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.judge import StackJudge

PLUGIN, MIG, VGPU = "nvidia.com/device-plugin.config", "nvidia.com/mig.config", "nvidia.com/vgpu.config"
NAMESPACE = "nvidia-gpu-operator"


def labelled(**more: t.Any) -> pointers.Label:
    given = {"key": PLUGIN, "node": "gpu-1", "value": "a100", "config_map": "profiles", **more}
    return pointers.Label(**given)


def config_map(**data: str) -> KubeObject:
    return {"metadata": {"name": "profiles", "namespace": NAMESPACE}, "data": data}


SHARED = "sharing:\n  timeSlicing:\n    resources:\n    - {name: nvidia.com/gpu, replicas: %s}\n"


def test_a_label_for_a_profile_that_is_not_there_names_all_four() -> None:
    wrong = pointers.judge_label(labelled(), config_map(a10="", t4=""), NAMESPACE)
    assert wrong is not None
    assert wrong.code == "GPU-PROFILE"
    assert f"Node gpu-1 has the label {PLUGIN}=a100" in wrong.message
    assert f"ConfigMap profiles in namespace {NAMESPACE} has only: a10, t4" in wrong.message
    assert f"oc label node gpu-1 {PLUGIN}=a10 --overwrite" in wrong.remedy


@pytest.mark.parametrize("number", ["0", "1", "-3", '"0"'])
def test_a_profile_that_the_plugin_refuses_is_said(number: str) -> None:
    wrong = pointers.judge_label(labelled(), config_map(a100=SHARED % number), NAMESPACE)
    assert wrong is not None
    assert wrong.code == "GPU-PROFILE-REPLICAS"
    assert f"replicas: {number.strip(chr(34))}" in wrong.message
    assert "oc edit configmap profiles" in wrong.remedy


@pytest.mark.parametrize("text", [SHARED % 2, SHARED % 10, "", '{"sharing": {"mps": {"replicas": 48}}}'])
def test_a_profile_that_the_plugin_takes_is_not_blamed(text: str) -> None:
    assert pointers.judge_label(labelled(), config_map(a100=text), NAMESPACE) is None


def test_a_config_map_that_is_not_there_is_said() -> None:
    wrong = pointers.judge_label(labelled(), None, NAMESPACE)
    assert wrong is not None
    assert wrong.code == "GPU-CP-REFERENCE"
    assert "ConfigMap profiles, which does not exist" in wrong.message


def test_the_default_of_the_policy_is_a_pointer_too() -> None:
    policy = {"spec": {"devicePlugin": {"config": {"name": "profiles", "default": "none"}}}}
    [label] = pointers.of_node({"metadata": {"name": "gpu-1", "labels": {}}}, policy)
    wrong = pointers.judge_label(label, config_map(a10=""), NAMESPACE)
    assert wrong is not None
    assert "devicePlugin.config.default for node gpu-1 is none" in wrong.message
    assert "oc label" not in wrong.remedy


def test_a_label_without_a_config_map_is_only_a_hint() -> None:
    [label] = pointers.of_node({"metadata": {"name": "gpu-1", "labels": {PLUGIN: "x"}}}, {"spec": {}})
    wrong = pointers.judge_label(label, None, NAMESPACE)
    assert wrong is not None
    assert (wrong.code, wrong.remedy) == ("", "")
    assert "has no effect" in wrong.message


FILE = "version: v1\nmig-configs:\n  all-disabled:\n    - devices: all\n  all-1g.10gb: [{devices: all}]\n"


@pytest.mark.parametrize(("key", "head"), [(MIG, "mig-configs"), (VGPU, "vgpu-configs")])
def test_a_layout_that_the_file_lacks_is_said(key: str, head: str) -> None:
    data = {"config.yaml": FILE.replace("mig-configs", head)}
    label = labelled(key=key, value="all-9g")
    wrong = pointers.judge_label(label, config_map(**data), NAMESPACE)
    assert wrong is not None
    assert "has only: all-1g.10gb, all-disabled" in wrong.message
    assert "ends the pods that use them" in wrong.remedy
    assert pointers.judge_label(label._replace(value="all-disabled"), config_map(**data), NAMESPACE) is None


def test_a_file_in_another_form_and_the_operators_own_are_not_judged() -> None:
    flow = config_map(**{"config.yaml": "{mig-configs: {a: []}}"})
    assert pointers.judge_label(labelled(key=MIG), flow, NAMESPACE) is None
    own = labelled(key=MIG, config_map="default-mig-parted-config")
    assert pointers.judge_label(own, None, NAMESPACE) is None


def naming(**spec: t.Any) -> KubeObject:
    return {"metadata": {"name": "p", "namespace": NAMESPACE}, "spec": {"containers": [], **spec}}


@pytest.mark.parametrize(
    ("spec", "kind", "name"),
    [
        ({"volumes": [{"name": "v", "configMap": {"name": "x"}}]}, "ConfigMap", "x"),
        ({"volumes": [{"name": "v", "secret": {"secretName": "x"}}]}, "Secret", "x"),
        ({"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "x"}}]}}]}, "Secret", "x"),
        ({"containers": [{"name": "c", "envFrom": [{"configMapRef": {"name": "x"}}]}]}, "ConfigMap", "x"),
        (
            {
                "containers": [
                    {"name": "c", "env": [{"valueFrom": {"secretKeyRef": {"name": "x", "key": "k"}}}]}
                ]
            },
            "Secret",
            "x",
        ),
        ({"resourceClaims": [{"name": "g", "resourceClaimTemplateName": "x"}]}, "ResourceClaimTemplate", "x"),
        ({"resourceClaims": [{"name": "g", "resourceClaimName": "x"}]}, "ResourceClaim", "x"),
    ],
)
def test_what_a_pod_names_is_found_and_said_if_it_is_missing(spec: KubeObject, kind: str, name: str) -> None:
    one = naming(**spec)
    [found] = pointers.of_pod(one)
    assert (found.kind, found.name) == (kind, name)
    wrong = pointers.judge_name(one, found, None)
    assert wrong is not None
    assert wrong.code == "GPU-CP-REFERENCE"
    assert f"Pod p names {kind} x" in wrong.message
    assert f"-n {NAMESPACE}" in wrong.remedy


def test_what_is_optional_is_no_cause() -> None:
    assert (
        pointers.of_pod(naming(volumes=[{"name": "v", "configMap": {"name": "x", "optional": True}}])) == []
    )


def test_a_key_that_a_config_map_lacks_is_said_with_those_that_it_has() -> None:
    one = naming(volumes=[{"name": "v", "configMap": {"name": "x", "items": [{"key": "a"}]}}])
    [found] = pointers.of_pod(one)
    wrong = pointers.judge_name(one, found, config_map(b="", c=""))
    assert wrong is not None
    assert "needs its key a; in namespace nvidia-gpu-operator it has only: b, c" in wrong.message
    assert pointers.judge_name(one, found, config_map(a="")) is None


def crashing(seen: Snapshot) -> StackJudge:
    """Return the judge of a stack whose device plugin crashes because of its node's label."""
    plugin = pod(seen, "nvidia-device-plugin")
    unready(plugin)
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
    plugin["status"]["containerStatuses"] = [
        {"name": "nvidia-device-plugin", "ready": False, "restartCount": 5, "state": state}
    ]
    node(seen)["metadata"]["labels"][PLUGIN] = "a100"
    seen["policies"][0]["spec"]["devicePlugin"] = {"config": {"name": "profiles"}}
    judged = StackJudge(
        lambda snapshot: judge(snapshot, "gpu-cluster-policy", [POOL]), CHAIN, Grace(lambda: 0.0, 60, ())
    )
    judged(seen)
    return judged


def failure(judged: StackJudge) -> AcceleratorError:
    verdict = judged.verdict(judged.seen)
    return AcceleratorError(verdict.code, verdict.message, verdict.remedy)


def test_the_pointer_is_the_cause_and_not_the_pod_that_crashes(seen: Snapshot) -> None:
    server, judged = FakeServer(), crashing(seen)
    server.put({"apiVersion": "v1", "kind": "ConfigMap", **config_map(a10="")})
    error = failure(judged)
    assert error.code == "GPU-OPERAND-CRASH"
    diagnose.check_pointers(api_on(server), judged, error, NAMESPACE)
    assert error.code == "GPU-PROFILE"
    assert f"has the label {PLUGIN}=a100" in error.message
    assert "has only: a10" in error.message


def test_a_look_gives_the_pool_the_cause_that_a_failed_wait_gives(seen: Snapshot) -> None:
    server, judged = FakeServer(), crashing(seen)
    server.put({"apiVersion": "v1", "kind": "ConfigMap", **config_map(a10="")})
    found = summarize(seen, "gpu-cluster-policy", [POOL])
    assert found["pools"][0]["code"] == "GPU-OPERAND-CRASH"
    for check_mode, wait_wanted in ((True, True), (False, False)):
        other = api_on(server, check_mode=check_mode, wait_wanted=wait_wanted)
        diagnose.explain_look(other, NAMESPACE, judged, seen, found, PODS)
    assert found["pools"][0]["code"] == "GPU-OPERAND-CRASH"
    look = api_on(server, check_mode=True, wait_wanted=False)
    diagnose.explain_look(look, NAMESPACE, judged, seen, found, PODS)
    assert found["pools"][0]["code"] == "GPU-PROFILE"
    assert "has only: a10" in found["pools"][0]["message"]
    assert "oc label node" in found["pools"][0]["remedy"]
    assert server.writes() == []


def test_a_look_at_a_stack_that_works_asks_nothing_more(seen: Snapshot) -> None:
    server = FakeServer()
    judged = StackJudge(
        lambda snapshot: judge(snapshot, "gpu-cluster-policy", [POOL]), CHAIN, Grace(lambda: 0.0, 60, ())
    )
    found = summarize(seen, "gpu-cluster-policy", [POOL])
    look = api_on(server, check_mode=True, wait_wanted=False)
    diagnose.explain_look(look, NAMESPACE, judged, seen, found, PODS)
    assert (found["pools"][0]["ready"], server.requests) == (True, [])


def test_a_pointer_that_is_right_blames_nothing(seen: Snapshot) -> None:
    server, judged = FakeServer(), crashing(seen)
    server.put({"apiVersion": "v1", "kind": "ConfigMap", **config_map(a100=SHARED % 4)})
    error = failure(judged)
    diagnose.check_pointers(api_on(server), judged, error, NAMESPACE)
    assert (error.code, error.evidence) == ("GPU-OPERAND-CRASH", [])
