# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Use the control plane of a sandbox again: for another scenario, or for an earlier state of its cluster.

etcd and the API server keep running, and etcd's content is replaced below them. Most of the time of a start
is theirs. Other processes start again if they remember the old cluster, or the scenario.
"""

from __future__ import annotations

import json
import shutil
import signal
import time
import typing as t
from pathlib import Path

from openshift_sandbox.catalogue.crds import Crd
from openshift_sandbox.etcd import Content, Etcd
from openshift_sandbox.processes import Child
from openshift_sandbox.sandbox import Sandbox, SandboxError

STORE: t.Final = ("etcd", "kube-apiserver")
# They see objects come and go through the API server, and pause while the content is replaced.
CONTROLLERS: t.Final = ("kube-controller-manager", "kube-scheduler")
# They know the scenario, but no object.
SERVERS: t.Final = ("oauth", "machine-webhook")
CRDS: t.Final = b"/registry/apiextensions.k8s.io/customresourcedefinitions/"
# The control plane's own keys. The API server makes an APIService for each CRD, and removes it with the CRD.
OWN: t.Final = (
    b"/registry/apiregistration.k8s.io/apiservices/",
    b"/registry/serviceaccounts/kube-system/",
    b"/registry/leases/kube-system/",
)
# What the control plane makes some moments after it answers.
AWAITED: t.Final = (
    b"/registry/namespaces/default",
    b"/registry/namespaces/kube-node-lease",
    b"/registry/namespaces/kube-public",
    b"/registry/namespaces/kube-system",
    b"/registry/services/specs/default/kubernetes",
    b"/registry/configmaps/kube-system/extension-apiserver-authentication",
)
BLANK_SECONDS: t.Final = 30.0
# The files in `run` that belong to the control plane; the others belong to the scenario.
FILES: t.Final = {"pki", "tokens.csv", "oauth-users.json", "oauth-webhook.kubeconfig", "audit-policy.yml"}


class Blank:
    """What etcd held before a cluster was there, and the CRDs as `up` loaded them."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._directory = sandbox.directory / "blank"
        self._etcd = etcd(sandbox)

    def remember(self) -> None:
        """Keep what etcd holds now. Raises SandboxError when the control plane is not complete."""
        deadline = time.monotonic() + BLANK_SECONDS
        while missing := [key.decode() for key in AWAITED if key not in (content := self._etcd.read())]:
            if time.monotonic() > deadline:
                raise SandboxError(
                    f"the control plane has not made {', '.join(missing)} after {BLANK_SECONDS:.0f} s"
                )
            time.sleep(0.05)
        self._directory.mkdir(exist_ok=True)
        _write(self._directory / "content.json", content)

    def remember_crds(self, loaded: t.Sequence[Crd]) -> None:
        """Keep the CRDs as etcd holds them now, their manifests, and which processes the content is of."""
        live = {key: value for key, value in self._etcd.read().items() if key.startswith(CRDS)}
        _write(self._directory / "crds.json", live)
        (self._directory / "manifests.json").write_text(json.dumps({_name(one): one for one in loaded}))
        pids = {child.name: child.pid for child in self._sandbox.processes.all() if child.name in STORE}
        self._sandbox.state.set(made_with=pids)

    def content(self) -> Content:
        """Return what etcd held without a cluster, with each CRD whose specification nobody changed."""
        now, loaded = self._etcd.read(), _read(self._directory / "crds.json")
        kept = {key: value for key, value in loaded.items() if key in now and _spec(now[key]) == _spec(value)}
        own = {key: value for key, value in now.items() if key.startswith(OWN)}
        return own | _read(self._directory / "content.json") | kept

    def drop_crds(self, wanted: t.Sequence[Crd]) -> list[Crd]:
        """Delete each CRD that was not made from one of the manifests wanted; return those without a CRD."""
        manifests: dict[str, Crd] = json.loads((self._directory / "manifests.json").read_text())
        stay = {CRDS + _name(one).encode() for one in wanted if manifests.get(_name(one)) == one}
        now = self._etcd.read()
        kept = {key: value for key, value in now.items() if not key.startswith(CRDS) or key in stay}
        self._etcd.replace(kept)
        return [one for one in wanted if CRDS + _name(one).encode() not in kept]


def etcd(sandbox: Sandbox) -> Etcd:
    """Return a client of the sandbox's etcd."""
    return Etcd(sandbox.port("etcd"))


def clear(sandbox: Sandbox) -> None:
    """Take the cluster away, so that `lifecycle.up` may make that of another scenario. Raises EtcdError."""
    _put(sandbox, Blank(sandbox).content(), CONTROLLERS)
    for path in sandbox.run.iterdir():
        if path.is_dir() and path.name not in FILES:
            shutil.rmtree(path)
    # The API server appends to this file.
    sandbox.audit_log.write_bytes(b"")
    with sandbox.state.change() as state:
        for key in ("seeded", "scenario", "digest", "source"):
            state.pop(key, None)


def restore(sandbox: Sandbox, content: Content) -> None:
    """Give etcd an earlier content, so that `lifecycle.up` may start what works on it. Raises EtcdError.

    Objects come back with their uids. The controllers start again: the garbage collector remembers the uids
    of owners that were deleted, and would delete what belongs to them.
    """
    _put(sandbox, content, SERVERS)


def can_clear(sandbox: Sandbox) -> bool:
    """Return whether etcd and the API server run, and are those that the sandbox was made with."""
    made_with = sandbox.state.get("made_with", {})
    children = {child.name: child for child in sandbox.processes.all()}
    return all(name in children and _is(children[name], made_with.get(name)) for name in STORE)


def _put(sandbox: Sandbox, content: Content, but: t.Collection[str]) -> None:
    """End all processes but etcd, the API server and these, and give etcd this content."""
    stay = {*STORE, *but}
    sandbox.processes.kill_all(stay)
    with sandbox.state.change() as state:
        state["ready"] = False
        state["processes"] = {name: one for name, one in state["processes"].items() if name in stay}
    try:
        for name in CONTROLLERS:
            sandbox.processes.signal(name, signal.SIGSTOP)
        etcd(sandbox).replace(content)
    finally:
        for name in CONTROLLERS:
            sandbox.processes.signal(name, signal.SIGCONT)


def _is(child: Child, pid: int | None) -> bool:
    return child.pid == pid and child.alive and not child.stopped


def _name(crd: Crd) -> str:
    return str(crd["metadata"]["name"])


def _spec(value: bytes) -> t.Any:
    return json.loads(value)["spec"]


def _write(path: Path, content: Content) -> None:
    path.write_text(json.dumps({key.decode(): value.decode("latin-1") for key, value in content.items()}))


def _read(path: Path) -> Content:
    found = json.loads(path.read_text())
    return {key.encode(): value.encode("latin-1") for key, value in found.items()}
