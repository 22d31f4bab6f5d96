# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_monitoring on a server in memory."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import TickingClock, api_on
from unit.fake_server import Answer, FakeServer
from unit.monitoring.builders import (
    MONITORED,
    POOL,
    SPACE,
    WithConsole,
    cluster,
    console,
    monitor,
    namespace,
    params,
    policy,
    settings,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.manifest import (
    CONSOLE,
    MARK,
    NAME,
)

Data = dict[str, t.Any]
PLUGIN: t.Final = "console-plugin-nvidia-gpu"
API: t.Final = "monitoring.coreos.com/v1"
ON: t.Final = "enableUserWorkload: true\n"


def kept(server: FakeServer, api_version: str, plural: str, space: str, name: str = NAME) -> Data | None:
    return server.objects.get((api_version, plural, space, name))


def run(server: FakeServer, **given: t.Any) -> Data:
    result: Data = steps.present(api_on(server), params(**given))["monitoring"]
    return result


def failed(server: FakeServer, **given: t.Any) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as raised:
        run(server, **given)
    assert server.writes() == []
    return raised.value


def config_of(server: FakeServer) -> str:
    live = kept(server, "nvidia.com/v1", "clusterpolicies", "", "gpu-cluster-policy") or {}
    return str(live["spec"]["dcgmExporter"]["config"]["name"])


def space_of(server: FakeServer) -> Data:
    return dict((kept(server, "v1", "namespaces", "", SPACE) or {})["metadata"])


def test_everything_is_there_and_a_second_run_writes_nothing() -> None:
    server = cluster(namespace(), policy(), monitor())
    found = run(server, pools=[POOL])
    assert kept(server, API, "prometheusrules", SPACE)
    csv = (kept(server, "v1", "configmaps", SPACE) or {})["data"]["dcgm-metrics.csv"]
    assert "DCGM_EXP_XID_ERRORS_COUNT" in csv
    labels = (kept(server, "v1", "configmaps", CONSOLE) or {})["metadata"]["labels"]
    assert labels["console.openshift.io/dashboard"] == "true"
    assert config_of(server) == NAME
    assert space_of(server)["labels"][MONITORED] == "true"
    assert found["stack"] == "ClusterPolicy gpu-cluster-policy"
    assert found["kept"] == []
    server.requests.clear()
    assert run(server, pools=[POOL]) == found
    assert server.writes() == []


def test_absent_leaves_nothing_of_ours() -> None:
    server = cluster(namespace(), policy())
    before = set(server.objects)
    run(server)
    steps.absent(api_on(server), params(state="absent"))
    assert set(server.objects) - {key for key in server.objects if key[1] == "leases"} == before
    assert config_of(server) == ""
    assert MONITORED not in space_of(server).get("labels", {})
    assert MARK not in space_of(server).get("annotations", {})
    server.requests.clear()
    steps.absent(api_on(server), params(state="absent"))
    assert server.writes() == []


def test_a_label_of_others_stays() -> None:
    server = cluster(namespace(labels={MONITORED: "true"}), policy(), monitor())
    run(server)
    assert MARK not in space_of(server).get("annotations", {})
    steps.absent(api_on(server), params(state="absent"))
    assert space_of(server)["labels"][MONITORED] == "true"


def test_the_exporter_is_scraped_once() -> None:
    """The ServiceMonitor of the operator comes later than ours: ours goes."""
    server = cluster(namespace(), policy())
    assert run(server)["scraped_by"] == NAME
    assert kept(server, API, "servicemonitors", SPACE)
    server.put(monitor())
    assert run(server)["scraped_by"] == "nvidia-dcgm-exporter"
    assert kept(server, API, "servicemonitors", SPACE) is None


def test_a_list_of_others_stays_until_it_may_be_taken() -> None:
    server = cluster(namespace(), policy(config={"name": "theirs"}), monitor())
    api = api_on(server)
    result = steps.present(api, params())["monitoring"]
    assert [one["live"] for one in result["kept"]] == ["theirs"]
    assert "gpu_monitoring_adopt: take" in api.warnings[0]
    assert config_of(server) == "theirs"
    run(server, adopt="take")
    assert config_of(server) == NAME


def test_a_dashboard_that_is_not_wanted_any_more_goes() -> None:
    server = cluster(namespace(), policy(), monitor())
    run(server)
    run(server, dashboard=False)
    assert kept(server, "v1", "configmaps", CONSOLE) is None


def test_labels_that_the_metrics_override_are_a_warning() -> None:
    api = api_on(cluster(namespace(), policy(), monitor(honorLabels=True)))
    steps.present(api, params())
    assert "GpuIdle" in api.warnings[0]


@pytest.mark.parametrize(
    ("objects", "given", "code"),
    [
        ([], {}, "MON-NO-STACK"),
        ([namespace()], {}, "MON-NO-STACK"),
        ([namespace(), policy(enabled=False)], {}, "MON-NO-EXPORTER"),
        ([namespace(labels={MONITORED: "false"}), policy()], {}, "MON-PROMETHEUS"),
        (
            [namespace(labels={MONITORED: "true"}), policy()],
            {"prometheus": "user_workload"},
            "MON-PASSED-OVER",
        ),
        ([namespace(), policy()], {"prometheus": "user_workload"}, "MON-USER-WORKLOAD"),
        ([namespace(), policy(), settings("# " + ON)], {"prometheus": "user_workload"}, "MON-USER-WORKLOAD"),
        ([namespace(), policy(), monitor(NAME)], {}, "MON-FOREIGN"),
        ([namespace(), policy()], {"without": ["GpuX"]}, "MON-ALERT"),
        ([namespace(), policy()], {"metrics": ["DCGM_FI_DEV_FB_TOTAL"]}, "MON-METRIC"),
        ([namespace(), policy()], {"limits": {"idle": "an hour"}}, "MON-LIMIT"),
    ],
)
def test_what_cannot_work_is_refused_before_the_first_write(
    objects: list[Data], given: Data, code: str
) -> None:
    error = failed(cluster(*objects), **given)
    assert error.code == code
    assert error.remedy


def test_the_prometheus_of_user_workload_needs_no_label() -> None:
    server = cluster(namespace(), policy(), settings(ON))
    found = run(server, prometheus="user_workload", pools=[POOL])
    assert "GpuXid" in found["alerts"]
    assert "GpuNodeCordoned" not in found["alerts"]
    rule = (kept(server, API, "prometheusrules", SPACE) or {})["spec"]
    assert "kube_" not in str(rule)
    assert MONITORED not in space_of(server).get("labels", {})


def test_a_change_of_the_prometheus_takes_our_label_away() -> None:
    server = cluster(namespace(), policy(), settings(ON))
    run(server)
    run(server, prometheus="user_workload")
    assert MONITORED not in space_of(server).get("labels", {})


def test_check_mode_writes_nothing() -> None:
    server = cluster(namespace(), policy())
    api = api_on(server, check_mode=True)
    steps.present(api, params())
    assert server.writes() == []
    assert len(api.changes) == 6


def test_a_cluster_with_claims_has_its_own_stack() -> None:
    stack = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "GPUCluster",
        "metadata": {"name": "gpu-cluster"},
        "spec": {},
    }
    server = cluster(namespace(), stack)
    assert run(server)["stack"] == "GPUCluster gpu-cluster"


def plugins_of(server: FakeServer) -> list[str]:
    live = kept(server, "operator.openshift.io/v1", "consoles", "", "cluster") or {}
    return list(live["spec"]["plugins"])


def of_plugin(server: FakeServer) -> set[str]:
    """Return the kinds of the plugin's objects that are there."""
    return {plural for _version, plural, _space, name in server.objects if name == PLUGIN}


def test_the_plugin_comes_with_one_switch_and_a_second_run_writes_nothing() -> None:
    server = WithConsole()
    found = run(server, console=True)
    assert of_plugin(server) == {"consoleplugins", "deployments", "services"}
    assert plugins_of(server) == ["monitoring-plugin", PLUGIN]
    assert found["console"]["image"].endswith(":release-0.3.0")
    assert "pods begin again" in found["console"]["note"]
    csv = (kept(server, "v1", "configmaps", SPACE) or {})["data"]["dcgm-metrics.csv"]
    assert "DCGM_FI_DEV_MAX_SM_CLOCK" in csv
    labels = (kept(server, "v1", "configmaps", CONSOLE) or {})["metadata"]["labels"]
    assert labels["console.openshift.io/odc-dashboard"] == "true"
    server.requests.clear()
    assert run(server, console=True)["console"] == {"image": found["console"]["image"]}
    assert server.writes() == []


def test_the_console_loads_the_plugin_only_once_it_works() -> None:
    server = WithConsole(works=False)
    with pytest.raises(AcceleratorError) as raised:
        steps.present(api_on(server, TickingClock(0.5)), params(console=True))
    assert raised.value.code == "MON-CONSOLE"
    assert plugins_of(server) == ["monitoring-plugin"]


@pytest.mark.parametrize("how", [{"state": "absent"}, {"console": False}])
def test_the_plugin_goes_and_the_entries_of_others_stay(how: Data) -> None:
    server = WithConsole(console("theirs"))
    run(server, console=True)
    api = api_on(server)
    call = steps.absent if how.get("state") else steps.present
    found = call(api, params(**how))["monitoring"]["console"]
    assert "pods begin again" in found["note"]
    assert (plugins_of(server), of_plugin(server)) == (["theirs"], set())
    server.requests.clear()
    assert call(api_on(server), params(**how))["monitoring"]["console"] == {}
    assert server.writes() == []


def test_a_plugin_of_others_is_neither_changed_nor_removed() -> None:
    theirs = {
        "apiVersion": "console.openshift.io/v1",
        "kind": "ConsolePlugin",
        "metadata": {"name": PLUGIN, "labels": {"app.kubernetes.io/managed-by": "Helm"}},
        "spec": {"displayName": "theirs"},
    }
    server = WithConsole(console(PLUGIN), theirs)
    error = failed(server, console=True)
    assert (error.code, "created by Helm" in error.message) == ("MON-FOREIGN", True)
    run(server)
    steps.absent(api_on(server), params(state="absent"))
    assert (plugins_of(server), of_plugin(server)) == ([PLUGIN], {"consoleplugins"})


def test_a_cluster_without_a_console_refuses_the_plugin_alone() -> None:
    server = cluster(namespace(), policy())
    assert failed(server, console=True).code == "MON-NO-CONSOLE"
    assert run(server)["console"] == {}


def test_a_plugin_that_somebody_lists_meanwhile_stays() -> None:
    """The list is written as a whole, so a write with an old version is tried again."""
    server = WithConsole()
    api = api_on(server)

    def meanwhile(method: str, url: str, **more: t.Any) -> Answer:
        if method == "PATCH" and "/consoles/" in url:
            server.request = server.played
            server.put(console("monitoring-plugin", "meanwhile"))
        return server.played(method, url, **more)

    server.request = meanwhile
    steps.present(api, params(console=True))
    assert plugins_of(server) == ["monitoring-plugin", "meanwhile", PLUGIN]


def test_check_mode_shows_the_plugin_and_its_entry() -> None:
    server = WithConsole()
    api = api_on(server, check_mode=True)
    found = steps.present(api, params(console=True))["monitoring"]["console"]
    assert server.writes() == []
    changed = {change.object_name for change in api.changes}
    assert {f"ConsolePlugin {PLUGIN}", f"Deployment {SPACE}/{PLUGIN}", "Console cluster"} <= changed
    assert "pods begin again" in found["note"]


def test_a_render_has_the_plugin_before_there_is_a_stack() -> None:
    server = WithConsole()
    for version, plural in (("nvidia.com/v1", "clusterpolicies"), ("v1", "namespaces")):
        for key in [key for key in server.objects if key[:2] == (version, plural)]:
            del server.objects[key]
    api = api_on(server, check_mode=True)
    api.applied = []
    steps.present(api, params(console=True))
    assert [one.manifest["kind"] for one in api.applied] == [
        *("ConfigMap", "PrometheusRule", "ConfigMap", "ConsolePlugin", "Service", "Deployment"),
    ]
    # What the list of all plugins gets is said, as only a run can write it.
    assert "Console cluster" in {change.object_name for change in api.changes}
