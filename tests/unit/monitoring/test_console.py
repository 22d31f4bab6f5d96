# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NVIDIA's plugin of the console: its objects, its entry in the console's list, and when it works."""

from __future__ import annotations

import typing as t

import pytest
from unit.monitoring.builders import SPACE, console as live_console

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import console, metrics

Data = dict[str, t.Any]
IMAGE: t.Final = "registry.example.com/plugin@sha256:1"
PULL: t.Final = {
    "metadata": {"name": "console-plugin-nvidia-gpu-1"},
    "status": {
        "containerStatuses": [
            {
                "name": console.NAME,
                "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}},
            }
        ]
    },
}


@pytest.mark.parametrize(
    ("release", "tag"),
    [
        ((4, 18), "release-0.2.6"),
        ((4, 19), "release-0.3.0"),
        ((4, 22), "release-0.3.0"),
        (None, "release-0.3.0"),
        ((0, 0), "release-0.3.0"),
    ],
)
def test_the_release_of_the_plugin_follows_that_of_openshift(
    release: tuple[int, int] | None, tag: str
) -> None:
    assert console.image(release) == f"quay.io/edge-infrastructure/console-plugin-nvidia-gpu:{tag}"


@pytest.mark.parametrize(
    ("live", "why"),
    [(None, "capability Console"), (live_console(managementState="Removed"), "managementState")],
)
def test_a_cluster_without_a_console_gets_no_plugin(live: Data | None, why: str) -> None:
    with pytest.raises(AcceleratorError) as raised:
        console.refuse(live)
    assert raised.value.code == "MON-NO-CONSOLE"
    assert why in raised.value.message
    console.refuse(live_console())


def test_the_console_finds_the_plugin_at_its_service_and_the_service_its_pods() -> None:
    plugin, service, deployment = console.build(SPACE, IMAGE)
    # The console compares the name with that in the manifest of the image.
    assert plugin["metadata"]["name"] == "console-plugin-nvidia-gpu"
    assert "namespace" not in plugin["metadata"]
    backend = plugin["spec"]["backend"]["service"]
    assert (backend["name"], backend["namespace"]) == (service["metadata"]["name"], SPACE)
    template = deployment["spec"]["template"]
    (port,), (container,) = service["spec"]["ports"], template["spec"]["containers"]
    assert backend["port"] == port["port"] == port["targetPort"] == container["ports"][0]["containerPort"]
    assert service["spec"]["selector"] == template["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]
    assert container["image"] == IMAGE


def test_the_pod_has_the_certificate_where_its_web_server_reads_it() -> None:
    _plugin, service, deployment = console.build(SPACE, IMAGE)
    pod = deployment["spec"]["template"]["spec"]
    (volume,), (mount,) = pod["volumes"], pod["containers"][0]["volumeMounts"]
    asked = service["metadata"]["annotations"]["service.beta.openshift.io/serving-cert-secret-name"]
    assert volume["secret"]["secretName"] == asked
    assert (mount["name"], mount["mountPath"]) == (volume["name"], "/var/serving-cert")


def test_the_pod_is_one_of_a_restricted_namespace() -> None:
    pod = console.build(SPACE, IMAGE)[-1]["spec"]["template"]["spec"]
    assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    security = pod["containers"][0]["securityContext"]
    assert security == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def test_the_exporter_knows_what_the_plugin_shows() -> None:
    metrics.check(console.METRICS)


def test_entries_of_others_stay() -> None:
    live = live_console("theirs", "other")
    live["metadata"]["resourceVersion"] = "7"
    added = console.listing(live, is_wanted=True)
    assert added == {
        "metadata": {"resourceVersion": "7"},
        "spec": {"plugins": ["theirs", "other", console.NAME]},
    }
    live["spec"]["plugins"] = ["theirs", console.NAME, "other"]
    assert console.listing(live, is_wanted=True) == {}
    assert console.listing(live, is_wanted=False)["spec"] == {"plugins": ["theirs", "other"]}


def test_a_console_without_a_list_gets_one_only_for_the_plugin() -> None:
    live = live_console()
    del live["spec"]["plugins"]
    live["metadata"]["resourceVersion"] = "7"
    assert console.listing(live, is_wanted=False) == {}
    assert console.listing(live, is_wanted=True)["spec"] == {"plugins": [console.NAME]}


def deployment(available: str = "True", **status: t.Any) -> Data:
    conditions = [{"type": "Available", "status": available}]
    return {
        "metadata": {"name": console.NAME, "generation": 2},
        "status": {"observedGeneration": 2, "updatedReplicas": 1, "conditions": conditions, **status},
    }


@pytest.mark.parametrize(
    ("live", "is_ready"),
    [
        (deployment(), True),
        (deployment("False"), False),
        # The pod of the old image serves while the new one does not come.
        (deployment(unavailableReplicas=1), False),
        (deployment(observedGeneration=1), False),
        (deployment(updatedReplicas=0), False),
    ],
)
def test_the_plugin_works_when_each_of_its_pods_is_new_and_available(live: Data, is_ready: bool) -> None:
    assert console.works(SPACE)({"deployments": [live], "pods": []}).is_ready is is_ready


def test_what_keeps_the_pod_away_is_said() -> None:
    judge = console.works(SPACE)
    verdict = judge({"deployments": [deployment("False")], "pods": [PULL]})
    assert verdict.code == "MON-CONSOLE"
    assert "ImagePullBackOff: no such image" in verdict.message
    assert "gpu_monitoring_console_image" in verdict.remedy
    assert not judge({"deployments": [], "pods": []}).is_ready
