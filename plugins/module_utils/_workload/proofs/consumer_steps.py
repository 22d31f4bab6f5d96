# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that run consumers of the GPUs: create their objects, wait for their Jobs, delete everything."""

from __future__ import annotations

import secrets
import typing as t

from ..._core.errors import AcceleratorError, KindNotServedError
from ..._core.objects import KubeObject, name
from ..._core.ownership import POOL
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._nodes import devices
from .. import fingerprints
from ..options import ConsumerParams, GpuWorkloadParams
from ..pods import RUN_LABEL, owner_name
from ..run_steps import JOB, MAP, POD, is_deleted
from . import consumers
from .proof_steps import make_namespace

Result = dict[str, t.Any]
_TAIL: t.Final = 10


def prove(api: Api, params: GpuWorkloadParams, given: t.Sequence[ConsumerParams]) -> dict[str, t.Any]:
    """Run the consumers one after the other; those that have passed as they are now are left out.

    Raises the first error; the objects of a consumer are deleted in any case.
    """
    each = [(one, consumers.read(one, index, params.namespace)) for index, one in enumerate(given)]
    nodes = api.list(known("Node"), labels=POOL)
    drivers = [devices.driver_version(node) for node in nodes]
    live = api.get(MAP, fingerprints.PROOFS, params.namespace)
    proven = dict((live or {}).get("data") or {})
    found: list[Result] = []
    for consumer, objects in each:
        key, holds_for = consumers.KEY.format(consumer.name), consumers.proof_of(objects, drivers)
        if proven.get(key) == holds_for and not params.repeat:
            found.append(_result(consumer, True, "it was proven before"))
        elif api.check_mode:
            found.append(_result(consumer, None, ""))
        else:
            make_namespace(api, params)
            found.append(_run(api, params, consumer, objects))
            if found[-1]["proven"]:
                proven[key] = holds_for
                live = api.apply(fingerprints.proofs(params.namespace, proven), live=live)
    return {"consumers": found}


def _run(
    api: Api, params: GpuWorkloadParams, consumer: ConsumerParams, objects: t.Sequence[KubeObject]
) -> Result:
    try:
        kinds = [api.resolve(one["apiVersion"], one["kind"]) for one in objects]
    except KindNotServedError as exc:
        api.warn(f"Consumer {consumer.name} did not run: {exc.message}")
        return _result(consumer, False, exc.message)
    mark, place = secrets.token_hex(3), params.namespace
    api.wait_wanted = True
    seconds = max(1, int(api.deadline.remaining()))
    job = api.create(consumers.owner(place, mark, seconds, objects))
    try:
        for one in objects:
            api.create(consumers.owned(one, job, mark))
        queries = {
            f"{kind.plural}/{name(one)}": Query(kind, place, name(one))
            for kind, one in zip(kinds, objects, strict=True)
            if one["kind"] in consumers.ENDS
        }
        api.wait(queries, consumers.Judge(consumer.name, objects), f"consumer {consumer.name}")
        return _result(consumer, True, "", _logs(api, place, mark))
    except AcceleratorError as exc:
        exc.evidence += _logs(api, place, mark)
        raise
    finally:
        # Kubernetes deletes what the Job owns.
        is_deleted(api, JOB, owner_name(mark), job)


def _logs(api: Api, place: str, mark: str) -> list[str]:
    """Return the ends of the logs of the Jobs' pods, without those that cannot be read."""
    lines: list[str] = []
    for job in api.list(JOB, place, labels=f"{RUN_LABEL}={mark}"):
        for pod in api.list(POD, place, labels=f"job-name={name(job)}"):
            try:
                log = api.log(place, name(pod))
            except AcceleratorError:
                continue
            lines += [f"{name(pod)}: {line}" for line in log.splitlines()[-_TAIL:]]
    return lines


def _result(consumer: ConsumerParams, proven: bool | None, why: str, log: t.Sequence[str] = ()) -> Result:
    return {"name": consumer.name, "proven": proven, "why": why, "log_tail": list(log)}
