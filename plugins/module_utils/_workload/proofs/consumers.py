# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proof by consumers: Jobs that end well and Deployments that serve, made from the user's own objects.

A Job, or a TrainJob of Kubeflow Trainer, proves something by its end. A Deployment with a Service proves
something together with a Job that asks the Service.
"""

from __future__ import annotations

import typing as t
import zlib

from ..._core import conditions
from ..._core.codes.code import Code
from ..._core.errors import InputError, text_of
from ..._core.objects import KubeObject, Snapshot, name
from ..._core.ownership import MANAGED_BY
from ..._core.readiness import Readiness, failed, pending, ready
from ..._frame import manifest as manifests
from ..options import ConsumerParams
from ..pods import RUN_LABEL, owned_by, owner as job_that_owns

# Kind -> its condition that means the end, or that it serves.
ENDS: t.Final = {"Job": "Complete", "TrainJob": "Complete", "Deployment": "Available"}
# What the API server asks of a Job that makes no pod.
_NO_POD: t.Final = {"containers": [{"name": "none", "image": "registry.k8s.io/pause:3.10"}]}
# The key of a consumer in the ConfigMap of proofs.
KEY: t.Final = "consumer-{}"


def read(consumer: ConsumerParams, index: int, place: str) -> list[KubeObject]:
    """Return the consumer's objects in the validation namespace. Raise InputError if they prove nothing."""
    found = [dict(entry.manifest) for entry in manifests.read(consumer.objects)]
    path = f"prove.consumers[{index}].objects"
    setting = "gpu_validation_consumers (module option prove.consumers)"
    if not any(one["kind"] in ("Job", "TrainJob") for one in found):
        remedy = f"Add a Job to the objects in {setting}, for example one that asks the Service."
        raise InputError("INPUT-VALUE", f"{path} has no Job or TrainJob, whose end is the proof.", remedy)
    for one in found:
        given = one["metadata"].get("namespace") or place
        if given != place:
            remedy = f"Leave metadata.namespace out of the objects in {setting}."
            raise InputError("INPUT-VALUE", f"{path} names namespace {given}, not {place}.", remedy)
        one["metadata"] = {**one["metadata"], "namespace": place}
    return found


def proof_of(objects: t.Sequence[KubeObject], drivers: t.Iterable[str]) -> str:
    """Return what the proof holds for: these objects, and these drivers of GPU nodes."""
    digest = zlib.crc32(repr(objects).encode())
    return f"objects={digest:08x} drivers={','.join(sorted(set(drivers)))}"


def owned(one: KubeObject, job: KubeObject, mark: str) -> KubeObject:
    """Return the object as one that goes with the run's own Job."""
    made = owned_by(one, job)
    made["metadata"]["labels"] = {**(made["metadata"].get("labels") or {}), **MANAGED_BY, RUN_LABEL: mark}
    return made


def owner(place: str, mark: str, seconds: int, objects: t.Sequence[KubeObject]) -> KubeObject:
    """Return the Job that owns the objects, with the pod of one of them; a TrainJob has none of its own."""
    specs = [(one.get("spec", {}).get("template") or {}).get("spec") for one in objects]
    spec = next(filter(None, specs), _NO_POD)
    return job_that_owns(place, mark, seconds, {"spec": {**spec, "restartPolicy": "Never"}})


class Judge:
    """Judge the objects of one consumer: ready when each Job has ended well and each Deployment serves."""

    def __init__(self, consumer: str, wanted: t.Sequence[KubeObject]) -> None:
        self._consumer = consumer
        self._wanted = [(one["kind"], name(one)) for one in wanted if one["kind"] in ENDS]

    def __call__(self, snapshot: Snapshot) -> Readiness:
        live = {(one["kind"], name(one)): one for found in snapshot.values() for one in found}
        waiting = []
        for kind, object_name in self._wanted:
            one = live.get((kind, object_name))
            if one and (wrong := conditions.find(one, "Failed")).get("status") == "True":
                why = wrong.get("message") or wrong.get("reason") or "no reason is given"
                return failed("Failed", **self._text(f"{kind} {object_name}", why)._asdict())
            if not one or conditions.find(one, ENDS[kind]).get("status") != "True":
                waiting.append(f"{kind} {object_name} is not {ENDS[kind]}")
        # A Deployment has done its part when the Jobs that ask it have ended.
        if not [one for one in waiting if not one.startswith("Deployment")]:
            return ready()
        text = self._text("An object", "; ".join(waiting))
        return pending("Running", "; ".join(waiting), code=text.code, remedy=text.remedy)

    def _text(self, what: str, why: str) -> Code:
        return text_of("WORK-CONSUMER", consumer=self._consumer, object=what, answer=why)
