# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that the proofs of sharing have in common: the namespace, pods that run together, and the result."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject, name
from ..._core.ownership import validation_namespace
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from .. import judge, namespace, pods as workload_pods
from ..options import GpuWorkloadParams, SharingProofParams
from ..pods import Mark
from ..run_steps import POD
from . import sharing_proof as proof
from .sharing_proof import Refused, Stop, Together

NAMESPACE: t.Final = known("Namespace")
Result = dict[str, t.Any]


def make_namespace(api: Api, params: GpuWorkloadParams) -> None:
    """Create the namespace of the pods, and wait for its service account."""
    there = api.get(NAMESPACE, params.namespace)
    if there is None or namespace.is_made_for_validation(there):
        api.apply(validation_namespace(params.namespace, there), live=there)
    accounts = {"accounts": Query(known("ServiceAccount"), params.namespace, "default")}
    api.wait(accounts, judge.judge_account, "validation namespace")


class Watch(t.NamedTuple):
    """The pods of one proof while they run. resources: what they request from the device plugin."""

    api: Api
    params: GpuWorkloadParams
    mark: Mark
    resources: tuple[str, ...]

    def wait(self, judged: Together | Refused) -> list[KubeObject]:
        """Wait for the judge; return the pods as it saw them last."""
        label = f"{workload_pods.RUN_LABEL}={self.mark.name}"
        query = Query(POD, self.params.namespace, labels=label)
        return self.api.wait({"pods": query}, judged, "proof of sharing", on_timeout_code=proof.APART)["pods"]

    def together(self, made: t.Sequence[KubeObject], hold: float) -> Together:
        """Wait until all pods have run together for so many seconds, or never will."""
        names = [name(one) for one in made]
        judged = Together(names, self.resources, self.api.clock, hold, self.params.grace)
        self.wait(judged)
        return judged

    def logs(self, made: t.Sequence[KubeObject]) -> dict[str, str] | Stop:
        """Return what the pods printed; why there is nothing to judge, if one of them names no device."""
        end = self.api.clock() + self.params.grace
        while True:
            logs = {name(one): self.api.log(self.params.namespace, name(one)) for one in made}
            mute = [
                object_name
                for object_name, log in sorted(logs.items())
                if not proof.counts({object_name: log})
            ]
            if not mute:
                return logs
            if self.api.clock() >= end:
                return Stop("", f"pod {mute[0]} printed no device")
            if stop := self.together(made, 1.0).stop:
                return stop


def not_proven(api: Api, pool: SharingProofParams, why: str) -> Result:
    """Return the result of a pool whose sharing is not proven, with a warning outside check mode."""
    if api.check_mode:
        return result(pool, "", None, why)
    api.warn(f"The sharing of pool {pool.name} is not proven: {why}.")
    return result(pool, "", False, why)


def result(
    pool: SharingProofParams,
    node: str,
    proven: bool | None,
    why: str,
    devices: t.Sequence[dict[str, t.Any]] = (),
) -> Result:
    """Return the entry of the module's result."""
    return {"name": pool.name, "node": node, "proven": proven, "why": why, "devices": list(devices)}
