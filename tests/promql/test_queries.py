# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Prometheus scrapes the stand-ins: each query of dashboard and rules has data."""

from __future__ import annotations

import datetime
import typing as t

import pytest
import yaml
from integration.patience import until
from promql.real import Running, free_port, running
from promql.situations import POOL

from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import (
    dashboard,
    manifest,
    rules,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.alerts import (
    Alert,
    Limits,
    alerts,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.metrics import as_csv
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import STARTUP_TAINT
from openshift_sandbox.stand_ins.gpu_operator.workloads import DEVICES
from openshift_sandbox.stand_ins.monitoring import configuration, exporter, state_metrics
from openshift_sandbox.stand_ins.monitoring.configuration import Monitored
from openshift_sandbox.stand_ins.monitoring.server import serve_pages

pytestmark = pytest.mark.long("few have built Prometheus; the tests in tests/unit check what we ask it")
Object = dict[str, t.Any]
ALL: t.Final = alerts(Limits())
SPACE: t.Final = "nvidia-gpu-operator"
EXPORTER: t.Final = {"app": "nvidia-dcgm-exporter"}
# The nodes of the cluster; the last one has an exporter without data where there is trouble.
NODES: t.Final = ("gpu-0", "gpu-1", "gpu-2")
UP: t.Final = f'up{{namespace="{SPACE}", job="nvidia-dcgm-exporter"}}'
STATE: t.Final = "nvidia.com/gpu-driver-upgrade-state"
TROUBLES: t.Final = (
    {"metric": "DCGM_FI_DEV_GPU_TEMP", "value": 97},
    {"metric": "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "value": 2},
    {"metric": "DCGM_FI_DEV_ROW_REMAP_PENDING", "value": 1},
    {"metric": "DCGM_FI_DEV_ROW_REMAP_FAILURE", "value": 1},
    {"metric": "DCGM_EXP_XID_ERRORS_COUNT", "value": 1, "labels": {"xid": "79"}},
    {"metric": "DCGM_EXP_CLOCK_EVENTS_COUNT", "value": 30, "labels": {"clock_event": "hw_thermal"}},
)


def node(name: str, is_broken: bool) -> Object:
    labels = {
        "node.kubernetes.io/instance-type": "p4d.24xlarge",
        "accelerators.openshift/pool": "training",
        STATE: {"gpu-0": "drain-required", "gpu-1": "upgrade-failed"}[name] if is_broken else "upgrade-done",
    }
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"unschedulable": is_broken, "taints": [STARTUP_TAINT] if is_broken else []},
        "status": {
            "capacity": {"nvidia.com/gpu": "8"},
            "allocatable": {"nvidia.com/gpu": "7" if is_broken else "8"},
        },
    }


def pod(name: str, node: str, **annotations: str) -> Object:
    return {
        "metadata": {"name": name, "namespace": "lab", "annotations": annotations},
        "spec": {"nodeName": node, "containers": [{"name": "main"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def exporters() -> list[Object]:
    """Return an exporter on each node, as in the middle of an upgrade: gpu-0 still has the older release."""
    found = [pod(f"nvidia-dcgm-exporter-{name}", name) for name in NODES]
    for one in found:
        one["metadata"] |= {"namespace": SPACE, "labels": EXPORTER}
    found[0]["spec"]["containers"][0]["image"] = exporter.OLDER
    return found


def pages(is_broken: bool) -> dict[str, str]:
    """Return what Prometheus scrapes in a cluster where all is well, or where everything is broken."""
    nodes = [node(name, is_broken and name != "gpu-2") for name in NODES]
    use = {exporter.USE: "0"} if is_broken else {}
    pods = [*exporters(), pod("train-0", "gpu-0", **{DEVICES: "0,1", **use})]
    fields = exporter.fields(as_csv([]))
    found = {
        f"/nodes/{one['metadata']['name']}": exporter.metrics(
            one, pods, fields, TROUBLES if is_broken else ()
        )
        for one in nodes
    }
    now = datetime.datetime.now(datetime.UTC)
    numbers = {"hard": "8", "used": "8" if is_broken else "2"}
    quota = {
        "metadata": {"name": "gpus", "namespace": "lab"},
        "status": {part: {"requests.nvidia.com/gpu": number} for part, number in numbers.items()},
    }
    lease = {
        "metadata": {"name": "accelerators-openshift", "namespace": "default"},
        "spec": {"holderIdentity": "me" if is_broken else "", "renewTime": now.isoformat()},
    }
    gate = {
        "metadata": {"name": "gpu-gate", "namespace": "gpu-validation"},
        "status": {} if is_broken else {"lastSuccessfulTime": now.isoformat()},
    }
    state = state_metrics.State(nodes, pods, quotas=[quota], leases=[lease], cron_jobs=[gate])
    silent = {"/nodes/gpu-2": ""} if is_broken else {}
    return {**found, **silent, f"/{configuration.STATE}": state_metrics.metrics(state)}


def monitored() -> Monitored:
    """Return the objects of monitor_gpus.yml, and an exporter on each node."""
    service = {
        "metadata": {"name": "nvidia-dcgm-exporter", "namespace": SPACE, "labels": EXPORTER},
        "spec": {"selector": EXPORTER, "ports": [{"name": "gpu-metrics"}]},
    }
    namespace = {"metadata": {"name": SPACE, "labels": {configuration.MONITORED: "true"}}}
    rule = manifest.rule(SPACE, rules.groups(ALL, [POOL]))
    return Monitored([namespace], [service], exporters(), [manifest.service_monitor(SPACE)], [rule])


class Cluster:
    """What Prometheus scrapes now."""

    def __init__(self) -> None:
        self.pages = pages(False)

    def page(self, path: str) -> str | None:
        return self.pages.get(path)


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture(scope="module")
def prometheus(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Running]:
    folder, port = tmp_path_factory.mktemp("prometheus"), free_port()
    found = monitored()
    config = configuration.configuration(found, f"127.0.0.1:{port}")
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    (folder / "rules.yml").write_text(yaml.safe_dump(configuration.rules(found)))
    server = serve_pages(cluster.page, port)
    try:
        with running(folder) as one:
            until(
                lambda: len(one.querier.instant(UP)) == len(NODES), "each exporter has been scraped once", 60
            )
            until(
                lambda: one.answers(f"{rules.USED} > 0"), "the rules record the metrics of the exporters", 60
            )
            yield one
    finally:
        server.shutdown()


def queries() -> list[str]:
    """Return each query of the dashboard, and of rules that record."""
    recorded = [*rules.recorded(), *rules.expected([POOL])]
    return [
        *dashboard.expressions(),
        *(one["expr"] for one in recorded),
        *(one["record"] for one in recorded),
    ]


@pytest.mark.story("in a cluster where all is well, and then where everything is broken")
class TestCluster:
    def test_all_targets_are_up(self, prometheus: Running) -> None:
        assert {one.labels["pod"]: one.last for one in prometheus.querier.instant(UP)} == {
            f"nvidia-dcgm-exporter-{name}": 1.0 for name in NODES
        }

    def test_the_pod_that_holds_a_gpu_is_in_the_exported_labels(self, prometheus: Running) -> None:
        found = prometheus.querier.instant('DCGM_FI_DEV_GPU_TEMP{exported_pod!=""}')
        assert {(one.labels["exported_namespace"], one.labels["exported_pod"]) for one in found} == {
            ("lab", "train-0")
        }
        assert {one.labels["pod"] for one in found} == {"nvidia-dcgm-exporter-gpu-0"}

    def test_every_node_is_named_by_one_label(self, prometheus: Running) -> None:
        both = "DCGM_FI_DEV_GPU_TEMP", f"{rules.USED} > 0"
        raw, recorded = (prometheus.querier.instant(one) for one in both)
        assert {one.labels.get("Hostname") for one in raw} == {"gpu-0", None}
        assert {one.labels["Hostname"] for one in recorded} >= {"gpu-0"}
        cards = prometheus.querier.instant("count by (Hostname) (accelerators_openshift:gpu_active:ratio)")
        assert {one.labels["Hostname"]: one.last for one in cards} == dict.fromkeys(NODES, 8.0)

    def test_the_memory_is_in_bytes(self, prometheus: Running) -> None:
        found = prometheus.querier.instant(rules.TOTAL)
        assert {one.last for one in found} == {40960 * 1048576.0}

    @pytest.mark.parametrize("one", ALL, ids=lambda one: str(one.name))
    def test_no_alert_has_a_reason(self, prometheus: Running, one: Alert) -> None:
        assert not prometheus.answers(one.expression)

    def test_everything_breaks(self, cluster: Cluster, prometheus: Running) -> None:
        cluster.pages = pages(True)
        hot, idle = "DCGM_FI_DEV_GPU_TEMP > 90", "accelerators_openshift:gpu_active:ratio == 0"
        assert until(lambda: prometheus.answers(hot), "Prometheus sees the trouble", 60)
        assert until(lambda: prometheus.answers(idle), "so do rules", 60)

    @pytest.mark.parametrize("one", ALL, ids=lambda one: str(one.name))
    def test_each_alert_has_a_reason(self, prometheus: Running, one: Alert) -> None:
        assert until(lambda: prometheus.answers(one.expression), one.name, 30)

    @pytest.mark.parametrize("query", queries())
    def test_each_query_has_data(self, prometheus: Running, query: str) -> None:
        assert until(lambda: prometheus.answers(query), query, 30)
