# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run KWOK, the kubelets of the simulated nodes.

Its stages are upstream's, made faster, and our own for pods that end, fail, hang or crash.
"""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import yaml

from openshift_sandbox.client import ApiError
from openshift_sandbox.go.modules import STAGES
from openshift_sandbox.sandbox import BUILD, SOURCES, Sandbox, SandboxError

Stage = dict[str, t.Any]

COLLECTED: t.Final = BUILD / "kwok" / "stages.json"
OWN: t.Final = SOURCES / "kwok" / "stages.yml"
STEP_SECONDS: t.Final = 0.2
JITTER_SECONDS: t.Final = 0.3
CRASHES: t.Final = {
    "key": '.metadata.annotations["sandbox.openshift/crash-loop"]',
    "operator": "DoesNotExist",
}
INIT_CRASHES: t.Final = {
    "key": '.metadata.annotations["sandbox.openshift/init-crash-loop"]',
    "operator": "DoesNotExist",
}
NO_ROUTE: t.Final = {
    "key": '.metadata.annotations["sandbox.openshift/no-route"]',
    "operator": "DoesNotExist",
}
# A kubelet never starts a container with such an image: the stage pod-invalid-image-name says so.
INVALID_IMAGE: t.Final = (
    '.spec.containers.[].image | select(test("^([A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/)?" + '
    '"[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*" + '
    '"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-z]+)?$") | not)'
)
HOLD: t.Final = '.metadata.annotations["sandbox.openshift/hold"]'
# A pod that unpacks a bundle waits until the stand-in of the registry has, or refuses, its image.
UNPULLED: t.Final = (
    'select(.metadata.labels["operatorframework.io/bundle-unpack-ref"] != null and '
    '.metadata.annotations["sandbox.openshift/pulled"] == null) | "true"'
)
# Conditions that are added to the selectors of upstream's stages.
EXTRA: t.Final[dict[str, list[Stage]]] = {
    "pod-init-container-running": [
        INIT_CRASHES,
        {"key": UNPULLED, "operator": "NotIn", "values": ["true"]},
    ],
    "pod-init-container-completed": [INIT_CRASHES, {"key": HOLD, "operator": "NotIn", "values": ["init"]}],
    "pod-ready": [
        CRASHES,
        INIT_CRASHES,
        NO_ROUTE,
        {"key": INVALID_IMAGE, "operator": "DoesNotExist"},
        {"key": HOLD, "operator": "NotIn", "values": ["ready"]},
    ],
}


def collect(module: Path, target: Path = COLLECTED) -> None:
    """Write upstream's stages, as a module carries them, into the build folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps([yaml.safe_load((module / path).read_text()) for path in STAGES]))


def stages(step: float = STEP_SECONDS, jitter: float = JITTER_SECONDS) -> list[Stage]:
    """Return all stages. Each step of a pod takes `step` seconds, and up to `jitter` seconds more."""
    if not COLLECTED.exists():
        raise SandboxError(f"{COLLECTED} is missing: run `sandbox build`")
    upstream = [brisk(stage, step, jitter) for stage in json.loads(COLLECTED.read_text())]
    return [*upstream, *yaml.safe_load(OWN.read_text())]


def brisk(stage: Stage, step: float, jitter: float) -> Stage:
    """Return a stage of upstream with short delays."""
    name, spec = stage["metadata"]["name"], dict(stage["spec"])
    if spec["resourceRef"]["kind"] == "Pod":
        # Upstream's pod-delete takes the whole grace period: updating two nodes in turn would take a minute.
        own = () if name == "pod-delete" else ("durationFrom", "jitterDurationFrom")
        kept = {key: spec["delay"][key] for key in own if key in spec["delay"]}
        # KWOK draws the delay between the duration and the "jitter" duration, which is its upper end.
        spec["delay"] = {
            "durationMilliseconds": int(step * 1000),
            "jitterDurationMilliseconds": int((step + jitter) * 1000),
            **kept,
        }
        # Upstream tells of each container that it was created, which nobody reads here.
        spec["next"] = {key: part for key, part in spec["next"].items() if key != "event"}
    if name in EXTRA:
        spec["selector"] = {"matchExpressions": [*spec["selector"]["matchExpressions"], *EXTRA[name]]}
        if (
            name == "pod-ready"
        ):  # a crash-looping pod is Running, and becomes ready again once its trouble is over
            spec["selector"]["matchExpressions"] = [
                one | ({"values": ["Pending", "Running"]} if one["key"] == ".status.phase" else {})
                for one in spec["selector"]["matchExpressions"]
            ]
    return stage | {"spec": spec}


def start(sandbox: Sandbox) -> None:
    """Write the stages and start KWOK."""
    if sandbox.processes.alive("kwok"):
        return
    delays = sandbox.scenario.delays
    config, pki = sandbox.run / "kwok.yml", sandbox.run / "pki"
    brisk_stages = stages(delays.get("pod_step", STEP_SECONDS), delays.get("pod_jitter", JITTER_SECONDS))
    config.write_text("---\n".join(json.dumps(stage) + "\n" for stage in brisk_stages))
    _drop_leases(sandbox)
    argv: list[str | Path] = [
        sandbox.binary("control-plane", "kwok"),
        *(
            "--kubeconfig",
            sandbox.component_kubeconfig("kwok"),
            "--config",
            config,
            "--manage-all-nodes=true",
            "--enable-crds",
            "Logs,ClusterLogs,Exec",
        ),
        *(
            "--server-address",
            f"127.0.0.1:{sandbox.port('kwok-nodes')}",
            "--node-port",
            str(sandbox.port("kwok-nodes")),
            "--node-ip",
            "127.0.0.1",
        ),
        *("--tls-cert-file", pki / "kubelet.crt", "--tls-private-key-file", pki / "kubelet.key"),
        *("--node-lease-duration-seconds", str(int(delays.get("node_lease", 40)))),
        *("--cidr", "10.128.0.0/14"),
    ]
    sandbox.processes.start("kwok", argv, env={"HOME": str(sandbox.run)})


def _drop_leases(sandbox: Sandbox) -> None:
    """Delete the leases of an earlier KWOK: a new one would wait until they expire."""
    try:
        sandbox.client().checked("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases")
    except ApiError as error:
        if error.status != 404:
            raise
