# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a pool's machine sets, and check what the API server made of them.

A boot image that another manager updates is no conflict. Replicas that the autoscaler set stay, and so do
those that somebody scaled by hand, unless the task takes them. Any other field of another manager is a
conflict, as with all objects of this collection, unless the task adopts it.
"""

from __future__ import annotations

import contextlib
import re
import typing as t

from ..._core import fields
from ..._core.errors import ApiError, ConflictError
from ..._core.objects import KubeObject
from ..._frame.dry_run import dry_run_apply
from ..._kube.client import Api
from ..._kube.kinds import known
from ..._platforms.registry import CHOSEN, IMAGES
from .. import scaling
from ..machine import MachineError
from ..machine_set import name_of, provider_of, replicas_of
from ..plan import MachinePlan

_TRIES: t.Final = 5
_PROVIDER_VALUE: t.Final = ".spec.template.spec.providerSpec.value."
_REPLICAS: t.Final = ".spec.replicas"


def apply(
    api: Api,
    plan: MachinePlan,
    existing: t.Mapping[str, KubeObject],
    pinned: t.Collection[str] = (),
    adopt: str = "report",
) -> None:
    """Write the sets, each new one after a dry run of all. Raise MachineError or ConflictError.

    existing: live sets by name. pinned: names of sets whose replicas belong to somebody who scaled them.
    adopt: "take" overwrites fields of other managers.
    """
    for name, manifest in plan.manifests.items():
        if name not in existing:
            with _in_users_words(plan, name):
                check_answer(api.dry_run_create(manifest), manifest, _patch(plan, name))
    for name, manifest in plan.manifests.items():
        sent = _without_replicas(manifest) if name in pinned else manifest
        with _in_users_words(plan, name):
            check_answer(_applied(api, sent, existing.get(name), adopt), manifest, _patch(plan, name))


def _without_replicas(manifest: KubeObject) -> KubeObject:
    """Return the manifest without the replicas: an apply with the same number would make them ours too."""
    spec = {key: value for key, value in manifest["spec"].items() if key != "replicas"}
    return {**manifest, "spec": spec}


def foresee(
    api: Api,
    plan: MachinePlan,
    existing: t.Mapping[str, KubeObject],
    pinned: t.Collection[str] = (),
    adopt: str = "report",
) -> None:
    """Send every write of a plan that lowers replicas as a dry run. Raise ConflictError or MachineError.

    Nodes are drained before the replicas are written, so the refusal of a write has to come before that.
    existing, pinned, adopt: as for apply.
    """
    smaller = [
        name
        for name, replicas in plan.replicas.items()
        if name in existing and replicas < replicas_of(existing[name])
    ]
    if not smaller:
        return
    for name, manifest in plan.manifests.items():
        live = existing.get(name)
        if live is None:
            with _in_users_words(plan, name):
                check_answer(api.dry_run_create(manifest), manifest, _patch(plan, name))
            continue
        try:
            dry_run_apply(api, _without_replicas(manifest) if name in pinned else manifest, live)
        except ConflictError as exc:
            if not _is_overcome(exc.evidence) and adopt != "take":
                raise _explained(exc, manifest, live) from exc


def _applied(api: Api, manifest: KubeObject, live: KubeObject | None, adopt: str) -> KubeObject:
    try:
        return api.apply(manifest, live=live)
    except ConflictError as exc:
        if live is None or not (_is_overcome(exc.evidence) or adopt == "take"):
            raise _explained(exc, manifest, live) from exc
        if any(map(is_about_replicas, exc.evidence)):
            return _resized(api, manifest, live)
        return api.apply(manifest, force_conflicts=True, live=live)


def _is_overcome(conflicts: t.Sequence[str]) -> bool:
    """Return whether the conflicts are only about replicas, boot images, and fields without a manager."""
    rest = [line for line in conflicts if not is_about_replicas(line) and f'"{scaling.NOBODY}"' not in line]
    return bool(conflicts) and (not rest or is_about_images(rest))


def _explained(exc: ConflictError, manifest: KubeObject, live: KubeObject | None) -> ConflictError:
    """Return the error with each field, both values and the manager. The server names no values."""
    found = fields.conflicts(live or {}, _without_replicas(manifest)["spec"])
    lines = [one.line for one in found if not is_about_images([f".{one.path}: "])]
    if lines:
        exc.message = f"MachineSet {name_of(manifest)}: {'; '.join(lines[:5])}. Nothing was changed."
        exc.evidence = lines
    exc.remedy = (
        "Set gpu_node_pool_adopt: take (option adopt) to set these fields, or give the pool their live "
        "values."
    )
    return exc


def _resized(api: Api, manifest: KubeObject, live: KubeObject) -> KubeObject:
    """Write a set whose replicas another writer owns.

    Replicas that the autoscaler changes at the same time stay. Raise MachineError if somebody scales the set
    by hand at the same time.
    """
    read = live
    for _try in range(_TRIES):
        wanted = on_live(manifest, read, live)
        try:
            return api.apply(wanted, force_conflicts=True, live=live)
        except ConflictError:
            live = (
                api.get(known("MachineSet"), manifest["metadata"]["name"], manifest["metadata"]["namespace"])
                or live
            )
            if changes := scaling.changed_meanwhile(read, live):
                raise MachineError("MACH-SCALED", changes=changes) from None
    return live


@contextlib.contextmanager
def _in_users_words(plan: MachinePlan, name: str) -> t.Iterator[None]:
    """Name the options of the pool if the Machine API refuses fields of its provider_spec_patch."""
    try:
        yield
    except ApiError as exc:
        if options := patched(exc.message, _patch(plan, name)):
            exc.remedy = f"Correct {' and '.join(options)} of pool {plan.pool.name}."
        raise


def patched(refusal: str, patch: t.Mapping[str, t.Any]) -> list[str]:
    """Return the options of a patch that a text of the Machine API's webhook is about.

    The webhook names C(providerSpec.FIELD), sometimes without the fields above it (C(providerSpec.tenancy)).
    """
    found: dict[str, None] = {}
    for field in re.findall(r"providerSpec\.([\w.\[\]]*\w\]?)", refusal):
        exact = [path for path in _paths(patch) if field == path]
        last = field.rpartition(".")[2]
        alike = [path for path in _paths(patch) if path.rpartition(".")[2] == last]
        above = [path for path in _paths(patch) if field.startswith((f"{path}.", f"{path}["))]
        found |= dict.fromkeys(exact or alike[:1] or above[-1:])
    return [f"provider_spec_patch.{path}" for path in found]


def _paths(value: t.Any, path: str = "") -> t.Iterator[str]:
    """Yield the path of each field of a patch, the fields of a map after the map."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, f"{path}[{index}]")


def _patch(plan: MachinePlan, name: str) -> t.Mapping[str, t.Any]:
    return plan.shares[name].candidate.patch


def check_answer(answer: KubeObject, sent: KubeObject, patch: t.Mapping[str, t.Any]) -> None:
    """Raise MachineError if the answer lacks a field that was sent, since its machines would be different.

    patch: the user's provider_spec_patch.
    """
    lost = dropped(provider_of(sent), provider_of(answer))
    if not lost:
        return
    heads = sorted({path.partition(".")[0].partition("[")[0] for path in lost})
    options = [f"provider_spec_patch.{head}" if head in patch else CHOSEN.get(head, head) for head in heads]
    raise MachineError(
        "MACH-UNKNOWN-FIELD",
        evidence=[f"sent, but not in the answer: {path}" for path in lost],
        fields=", ".join(lost),
        machine_set=name_of(sent),
        options=" and ".join(options),
    )


def dropped(sent: t.Any, answer: t.Any, path: str = "") -> list[str]:
    """Return the paths of fields that were sent and are not in the answer; empty values may be missing."""
    found: list[str] = []
    if isinstance(sent, dict) and isinstance(answer, dict):
        for key, value in sent.items():
            where = f"{path}.{key}" if path else key
            if key in answer:
                found += dropped(value, answer[key], where)
            elif value or (isinstance(value, dict) and key in CHOSEN):
                found.append(where)
    elif isinstance(sent, list) and isinstance(answer, list) and len(sent) == len(answer):
        for index, (one, other) in enumerate(zip(sent, answer, strict=True)):
            found += dropped(one, other, f"{path}[{index}]")
    return found


def is_about_images(conflicts: t.Sequence[str]) -> bool:
    """Return whether all conflicts are about fields that hold a boot image."""
    paths = [line.partition(": ")[0] for line in conflicts]
    return bool(paths) and all(
        path.startswith(_PROVIDER_VALUE) and path.removeprefix(_PROVIDER_VALUE).partition(".")[0] in IMAGES
        for path in paths
    )


def is_about_replicas(conflict: str) -> bool:
    return conflict.partition(": ")[0] == _REPLICAS


def on_live(manifest: KubeObject, read: KubeObject, live: KubeObject) -> KubeObject:
    """Return the manifest for the live version. Replicas that differ from read are kept."""
    count = manifest["spec"]["replicas"] if replicas_of(read) == replicas_of(live) else replicas_of(live)
    metadata = {**manifest["metadata"], "resourceVersion": live["metadata"]["resourceVersion"]}
    return {**manifest, "metadata": metadata, "spec": {**manifest["spec"], "replicas": count}}
