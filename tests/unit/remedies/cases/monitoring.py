"""The variables of monitoring and of the use report end the failures, and the alerts, that name them."""

from __future__ import annotations

import re
import typing as t

from unit.engine import TickingClock, api_on
from unit.fake_server import Answer
from unit.monitoring.builders import MONITORED, WithConsole, cluster, monitor, namespace, policy, settings
from unit.monitoring.fake_monitoring import SHARED, Monitoring, error, matrix, vector
from unit.remedies.case import LEFT_OUT, Case, Cases, Options, checked, ensured
from unit.use.test_steps import POD

from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.manifest import NAME
from ansible_collections.accelerators.openshift.plugins.modules import gpu_monitoring

Data = dict[str, t.Any]
Reply = t.Callable[[str, Data], Answer]
FORWARDED: t.Final = "http://127.0.0.1:9090"
USER_WORKLOAD: t.Final = "enableUserWorkload: true\n"


def on(*objects: Data, **given: t.Any) -> t.Callable[[Options], str | None]:
    """Return a run of gpu_monitoring on a cluster with these objects."""

    def run(options: Options) -> str | None:
        return ensured("gpu_monitoring", api_on(cluster(*objects)), {**given, **options})

    return run


def elsewhere(options: Options) -> str | None:
    """Set up monitoring where the GPU stack is in the namespace gpu-stack."""
    return on(namespace("gpu-stack"), policy())(options)


def rule(options: Options, code: str) -> Data:
    """Return the alert of a code as gpu_monitoring writes it to the cluster."""
    server = cluster(namespace(), policy(), monitor())
    gpu_monitoring.ensure(api_on(server), checked("gpu_monitoring", options))
    (written,) = (one for one in server.objects.values() if one["kind"] == "PrometheusRule")
    found = [one for group in written["spec"]["groups"] for one in group["rules"]]
    return next(one for one in found if code in str(one))


def fires(code: str, value: float) -> t.Callable[[Options], str | None]:
    """Return a run that says whether the alert of the code fires at this value of its expression."""

    def run(options: Options) -> str | None:
        found = re.search(r">=? ([0-9.]+)$", rule(options, code)["expr"])
        assert found
        return code if value > float(found[1]) else None

    return run


def fires_after(code: str, hours: int) -> t.Callable[[Options], str | None]:
    """Return a run that says whether the alert of the code fires when its expression holds for so long."""

    def run(options: Options) -> str | None:
        found = re.fullmatch(r"(\d+)h", rule(options, code)["for"])
        assert found
        return code if hours >= int(found[1]) else None

    return run


def use(reply: Reply, options: Options, *objects: Data, token: bool = True) -> str | None:
    """Make the use report. reply: what the monitoring API answers to a query with these parameters."""
    found = Monitoring(lambda query: reply(query, found.asked[-1][1]), *objects)
    if not token:
        object.__setattr__(found.api.http.connection, "headers", list)
    return ensured("gpu_use", found.api, {"wait_timeout": 60, **options})


def used(query: str, _given: Data) -> Answer:
    """Answer that one pod held a GPU for a day."""
    return vector() if "kube_" in query else matrix((POD, [(1_700_000_000.0, 24.0)]))


def without_address(options: Options) -> str | None:
    """Make the report where the cluster does not say where its monitoring API is."""
    return use(used, options, {**SHARED, "data": {}})


def without_token(options: Options) -> str | None:
    """Make the report with a client certificate, which the monitoring API does not take."""
    return use(used, options, token=False)


def slowly(query: str, given: Data) -> Answer:
    """Answer like an API for which more than a day is too much."""
    if float(given.get("end", 0)) > float(given.get("start", 0)):
        return error(503, "timeout", "query timed out in expression evaluation")
    return used(query, given)


def elsewhere_asked(options: Options) -> str | None:
    """Make the report where the address of the cluster is that of something else."""

    def answer(query: str, given: Data) -> Answer:
        local = found.asked[-1][0].startswith(FORWARDED)
        return used(query, given) if local else Answer(200, "<html>")

    found = Monitoring(lambda query: answer(query, found.asked[-1][1]))
    return ensured("gpu_use", found.api, {"wait_timeout": 60, **options})


def pulled(options: Options) -> str | None:
    """Bring the console plugin where only a mirror has images."""
    server = WithConsole(works=str(options.get("console_image")).startswith("mirrored/"))
    clock = TickingClock(0.5)
    return ensured("gpu_monitoring", api_on(server, clock), {"console": True, **options})


HERE: t.Final = (namespace(), policy())
UNREACHED: t.Final = namespace(labels={MONITORED: "false"})
CHOSEN: t.Final = namespace(labels={MONITORED: "true"})
CASES: t.Final[Cases] = {
    ("MON-ALERT", "gpu_monitoring_without"): Case(
        "gpu_monitoring", on(*HERE), before="[GpuX]", value="[GpuXid]"
    ),
    ("MON-API", "gpu_monitoring_url"): Case("gpu_use", without_address),
    ("MON-API-TOKEN", "gpu_monitoring_url"): Case("gpu_use", without_token, value=FORWARDED),
    ("MON-CONSOLE", "gpu_monitoring_console_image"): Case(
        "gpu_monitoring", pulled, before="gone/plugin:1", value="mirrored/plugin:1"
    ),
    ("MON-NO-CONSOLE", "gpu_monitoring_console"): Case(
        "gpu_monitoring", on(*HERE), before="true", value="false"
    ),
    ("MON-FOREIGN", "gpu_monitoring_adopt"): Case("gpu_monitoring", on(*HERE, monitor(NAME))),
    ("MON-LIMIT", "gpu_monitoring_limits"): Case(
        "gpu_monitoring", on(*HERE), before="{idle: an hour}", value="{idle: 30m}"
    ),
    ("MON-METRIC", "gpu_monitoring_metrics"): Case(
        "gpu_monitoring", on(*HERE), before="[DCGM_FI_DEV_GPU_TEMPERATURE]", value="[DCGM_FI_DEV_GPU_TEMP]"
    ),
    ("MON-NO-STACK", "gpu_operator_namespace"): Case("gpu_monitoring", elsewhere, value="gpu-stack"),
    ("MON-PROMETHEUS", "gpu_monitoring_adopt"): Case("gpu_monitoring", on(UNREACHED, policy())),
    ("MON-PASSED-OVER", "gpu_monitoring_prometheus"): Case(
        "gpu_monitoring",
        on(CHOSEN, policy(), settings(USER_WORKLOAD)),
        before="user_workload",
        value="platform",
    ),
    ("MON-QUERY", "gpu_monitoring_url"): Case("gpu_use", elsewhere_asked, value=FORWARDED),
    ("MON-QUERY", "gpu_use_days"): Case("gpu_use", lambda options: use(slowly, options)),
    ("MON-USER-WORKLOAD", "gpu_monitoring_prometheus"): Case(
        "gpu_monitoring", on(*HERE), before="user_workload", value=LEFT_OUT
    ),
    ("GPU-HOT", "gpu_monitoring_limits"): Case("gpu_monitoring", fires("GPU-HOT", 88)),
    ("GPU-IDLE", "gpu_monitoring_limits"): Case("gpu_monitoring", fires_after("GPU-IDLE", 2)),
    ("QUOTA-NEARLY-USED", "gpu_monitoring_limits"): Case("gpu_monitoring", fires("QUOTA-NEARLY-USED", 0.92)),
}
