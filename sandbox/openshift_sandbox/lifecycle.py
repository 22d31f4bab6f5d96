# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start a sandbox, repair it, and remove it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import shutil
import signal
import sys
import time
import typing as t
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from openshift_sandbox import build, handover, scenario
from openshift_sandbox.catalogue import crds
from openshift_sandbox.processes import ProcessDied
from openshift_sandbox.programs import (
    admission,
    control_plane,
    foreign_webhooks,
    kueue,
    kwok,
    oauth,
    olm,
    prometheus,
    registry,
    virtualization,
)
from openshift_sandbox.sandbox import Sandbox, SandboxError, say
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.seed import installer
from openshift_sandbox.stand_ins.core.conditions import holds

NODES_SECONDS: t.Final = 60.0
PORT_TAKEN: t.Final = "address already in use"  # in the words of Go; Python begins with a capital letter


def up(sandbox: Sandbox, name: str, fresh: bool = False) -> None:
    """Start a sandbox and return once it is ready. Reuse one that runs, and repair one that is damaged.

    Raises SandboxError when the directory holds a sandbox of another scenario.
    """
    wanted = scenario.load(name)
    build.build(build.families_of(wanted))
    if fresh:
        down(sandbox)
    started = time.monotonic()
    sandbox.create()
    with _alone(sandbox):
        _same_scenario(sandbox, wanted, name)
        if sandbox.state.get("ready") and healthy(sandbox):
            say(f"the sandbox of scenario {wanted.name} runs already: {sandbox.directory}")
            return
        try:
            _bring_up(sandbox, started)
        except ProcessDied as error:
            if sandbox.state.get("seeded") or not any(PORT_TAKEN in line.lower() for line in error.lines):
                raise
            say(f"{error.name} found its port taken: trying other ports", started)
            sandbox.processes.kill_all()
            sandbox.state.set(ports={}, processes={})
            _bring_up(sandbox, started)
        say(f"ready: scenario {wanted.name}, KUBECONFIG={sandbox.kubeconfig}", started)


def down(sandbox: Sandbox) -> int:
    """End all processes of a sandbox and remove its directory; return how many processes were ended."""
    ended = sandbox.processes.kill_all()
    if (sandbox.directory / "state.lock").exists():
        shutil.rmtree(sandbox.directory)
    return ended


def healthy(sandbox: Sandbox) -> bool:
    """Return whether every process runs and the API server answers."""
    children = [child for child in sandbox.processes.all() if not child.nested]
    return (
        bool(children) and all(child.alive and not child.stopped for child in children) and _answers(sandbox)
    )


def repair(sandbox: Sandbox, started: float) -> None:
    """Start every process of the control plane that does not run; leave the others alone."""
    for child in sandbox.processes.all():
        if child.stopped:
            sandbox.processes.signal(child.name, signal.SIGCONT)
    oauth.start(sandbox)
    control_plane.start_etcd(sandbox)
    control_plane.start_apiserver(sandbox)
    control_plane.wait_ready(sandbox)
    oauth.wait_ready(sandbox)
    say("etcd and kube-apiserver answer", started)
    control_plane.start_controller_manager(sandbox)
    control_plane.start_scheduler(sandbox)


def _bring_up(sandbox: Sandbox, started: float) -> None:
    control_plane.prepare(sandbox)
    oauth.prepare(sandbox)
    registry.prepare(sandbox)
    has_olm = olm.wanted(sandbox.scenario)
    with ThreadPoolExecutor(1) as background:
        catalogues = background.submit(olm.prepare, sandbox) if has_olm else None
        repair(sandbox, started)
        if admission.wanted(sandbox):
            admission.start(sandbox)
        if not sandbox.state.get("seeded"):
            _fill(sandbox, started)
        if registry.wanted(sandbox.scenario):
            registry.start(sandbox)
        kwok.start(sandbox)
        if catalogues:
            catalogues.result()
    if has_olm:
        olm.start(sandbox)
    start_stand_ins(sandbox)
    if prometheus.wanted(sandbox.scenario):
        prometheus.start(sandbox)
    if kueue.wanted(sandbox.scenario):
        kueue.start(sandbox)
    if has_olm:
        olm.wait_ready(sandbox)
        say("OLM serves its catalogues", started)
    _wait_nodes(sandbox)
    foreign_webhooks.wait_ready(sandbox)
    sandbox.processes.check()
    sandbox.state.set(ready=True)


def _fill(sandbox: Sandbox, started: float) -> None:
    client, wanted, blank = sandbox.client("cluster-bootstrap"), _crds(sandbox), handover.Blank(sandbox)
    if sandbox.state.get("made_with"):
        missing = blank.drop_crds(wanted)
    else:
        blank.remember()
        missing = wanted
    crds.load(client, missing)
    blank.remember_crds(wanted)
    say(f"{len(wanted)} CRDs established", started)
    installer.seed(client, sandbox.scenario)
    sandbox.state.set(seeded=True)
    say("the objects of the scenario's cluster exist", started)


def _crds(sandbox: Sandbox) -> list[crds.Crd]:
    """Return the CRDs of the scenario's cluster."""
    cluster = sandbox.scenario.cluster
    wanted = crds.platform_crds(cluster.get("absent_groups", []), cluster.get("feature_set", ""))
    if cluster.get("upstream_nfd"):
        wanted += crds.upstream_crds("nfd")
    if cluster.get("special_resources"):
        wanted += crds.operator_crds("special-resource-operator")
    if kueue.wanted(sandbox.scenario):
        wanted += kueue.crds(sandbox)
    elif cluster.get("kueue"):
        wanted += crds.kueue_crds()
    if virtualization.wanted(sandbox.scenario):
        wanted += virtualization.manifests(sandbox)
    if cluster.get("cert_manager"):
        wanted += crds.cert_manager_crds()
    if cluster.get("nmstate"):
        wanted += crds.nmstate_crds()
    if cluster.get("openshift_ai"):
        wanted += crds.openshift_ai_crds()
    if cluster.get("maintenance_operator"):
        wanted += crds.maintenance_crds()
    return wanted


def start_stand_ins(sandbox: Sandbox) -> None:
    """Start the process of the stand-ins."""
    sandbox.processes.start(
        "stand-ins", [sys.executable, "-m", "openshift_sandbox.stand_ins", "--dir", sandbox.directory]
    )


def _wait_nodes(sandbox: Sandbox) -> None:
    client = sandbox.client()
    deadline = time.monotonic() + NODES_SECONDS
    while waiting := [
        node["metadata"]["name"] for node in client.list("v1", "nodes") if not holds(node, "Ready")
    ]:
        sandbox.processes.check()
        if time.monotonic() > deadline:
            raise SandboxError(
                f"nodes not Ready after {NODES_SECONDS:.0f} s: {', '.join(waiting)}; "
                f"see {sandbox.logs / 'kwok.log'}"
            )
        time.sleep(0.1)


def _answers(sandbox: Sandbox) -> bool:
    try:
        control_plane.wait_ready(sandbox, seconds=2.0)
    except (SandboxError, ProcessDied):
        return False
    return True


def _same_scenario(sandbox: Sandbox, wanted: Scenario, source: str) -> None:
    current, digest = sandbox.state.get("scenario"), _digest(wanted)
    if current is None:
        scenario.save(wanted, sandbox.directory)
        sandbox.state.set(
            scenario=wanted.name,
            digest=digest,
            source=str(Path(source).resolve()) if Path(source).suffix else source,
        )
    elif current != wanted.name:
        raise SandboxError(
            f"{sandbox.directory} holds a sandbox of scenario {current}, not {wanted.name}: "
            f"`sandbox up --scenario {wanted.name} --fresh` replaces it, --dir starts a second one beside it"
        )
    elif sandbox.state.get("digest") != digest:
        say(
            f"the file of scenario {current} changed after this sandbox was made: "
            "`sandbox reset` starts a new one with the changes"
        )


def _digest(wanted: Scenario) -> str:
    return hashlib.sha256(
        json.dumps([wanted.cluster, wanted.delays, wanted.troubles], sort_keys=True).encode()
    ).hexdigest()


@contextlib.contextmanager
def _alone(sandbox: Sandbox) -> t.Iterator[None]:
    """Let only one `up` at a time work on a directory; a second one waits and then finds it ready."""
    lock: Path = sandbox.run / "up.lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
