# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_queue for the object Kueue of Red Hat's operator: look, make it, wait for it, delete it."""

from __future__ import annotations

import typing as t

from .._catalogue import kueue
from .._core.adoption import keeper
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from .._core.ownership import owned
from .._frame.adopt_or_apply import adopt_or_apply
from .._kube.client import Api, Query
from .._kube.kinds import Kind, by_name, known
from . import instance
from .instance import Instance
from .served import optional

# Seconds for which the operator may say that cert-manager is missing, which is served already.
GRACE: t.Final = 30.0


class Found(t.NamedTuple):
    """What is there. kind: None if the operator is not installed yet, which only check mode accepts."""

    wanted: Instance
    kind: Kind | None
    live: KubeObject | None


def look(api: Api, wanted: Instance) -> Found:
    """Return what is there. Raises AcceleratorError before the first write for what is in the way."""
    kind = optional(api, kueue.RED_HATS, kueue.INSTANCE)
    live = api.get(kind, kueue.CLUSTER) if kind else None
    is_ready = instance.judge(live, wanted).is_ready
    if not is_ready and optional(api, *instance.CERTIFICATES) is None:
        raise AcceleratorError("QUEUE-NO-CERT-MANAGER", version=instance.CERTIFICATES[0])
    if live is None:
        others = api.list(known("Deployment"), fields=by_name(instance.CONTROLLER), metadata_only=True)
        places = {str(deployment["metadata"]["namespace"]) for deployment in others} - {wanted.namespace}
        if places:
            names = ", ".join(sorted(places))
            raise AcceleratorError("QUEUE-TWO-KUEUES", namespaces=names, deployment=instance.CONTROLLER)
    if kind is None and not api.check_mode:
        raise AcceleratorError("QUEUE-NO-KUEUE", group=kueue.GROUP)
    return Found(wanted, kind, live)


def keep(api: Api, found: Found, adopt: str) -> dict[str, t.Any]:
    """Bring the object to the cluster, and wait until Kueue answers. Return the key `instance`."""
    wanted, live = found.wanted, found.live
    if found.kind is None:
        api.foresee(instance.build(wanted))
        return {"name": kueue.CLUSTER, "available": False}
    theirs = live if live and not owned(live) else None
    written = len(api.changes)
    adopt_or_apply(api, found.kind, instance.build(wanted, theirs), adopt, live)
    if not api.check_mode and (len(api.changes) > written or not instance.judge(live, wanted).is_ready):
        live = _wait(api, wanted, found.kind)
    if live and (text := instance.degraded(live)):
        api.warn(text)
    return {"name": kueue.CLUSTER, "available": instance.judge(live, wanted).is_ready}


def _wait(api: Api, wanted: Instance, kind: Kind) -> KubeObject | None:
    """Wait until Kueue answers. Return the object."""
    queries = {"instance": Query(kind, None, kueue.CLUSTER)}
    judge = instance.Judge(wanted, api.clock, GRACE)
    found = api.wait(queries, judge, f"Kueue {kueue.CLUSTER}", on_timeout_code=instance.CODE)
    return next(iter(found["instance"]), None)


def remove(api: Api, needed_by: t.Callable[[], list[str]]) -> list[str]:
    """Delete our object, and wait until its operator has removed Kueue. Return for whom it stays.

    needed_by: returns who needs Kueue. It is asked only if there is something of ours to delete.
    """
    kind = optional(api, kueue.RED_HATS, kueue.INSTANCE)
    live = api.get(kind, kueue.CLUSTER) if kind else None
    if kind is None or live is None:
        return []
    object_name = f"Kueue {kueue.CLUSTER}"
    needs = needed_by() if owned(live) else [f"{object_name} (made by {keeper(live)})"]
    if needs:
        api.warn(f"{object_name} and its operator stay. They are needed by {', '.join(needs)}.")
    else:
        api.delete(kind, kueue.CLUSTER)
    return needs
