# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_pull_secret: find the pull secrets, see whether the new one can pull, and put it in place."""

from __future__ import annotations

import typing as t

from .._core import secrets
from .._core.errors import AcceleratorError, ConflictError, ForbiddenError, InputError
from .._core.objects import KubeObject
from .._core.ownership import MANAGED_BY
from .._frame.argspec import LockParams, WaitParams
from .._kube.client import Api
from .._kube.kinds import known
from .._kube.session import Change
from .._stack.drivers import image, steps as image_steps
from . import docker_config, judge, result, uses
from .docker_config import Auths
from .judge import Rotation
from .uses import Named, Place, Used

_SECRET: t.Final = known("Secret")
# The GPU stack's objects that name pull secrets of an operator's namespace.
_OF_GPU: t.Final = ("ClusterPolicy", "NVIDIADriver", "GPUCluster")
# It exists while the cluster looks the images up.
CHECK: t.Final = "accelerators-pull-secret-check"
_MODE: t.Final = "check mode writes no Secret to look the images up with"


class GpuPullSecretParams(LockParams, WaitParams):
    """The options of gpu_pull_secret."""

    content: str | None
    path: str | None
    names: list[str]
    drop: bool
    namespace: str
    nic_namespace: str
    validation_namespace: str


def ensure(api: Api, params: GpuPullSecretParams) -> dict[str, t.Any]:
    """Give the pull secrets of the GPU stack the new content. Return the module's result.

    Raise AcceleratorError before the first Secret is replaced.
    """
    after = _content(params)
    secrets.register(*docker_config.secret_strings(after))
    chosen = judge.choose(_used(api, params), params["names"])
    plan = [judge.rotation(used, _live(api, used), after) for used in chosen]
    for rotation in plan:
        judge.refuse(rotation, params["drop"])
    answers = _verify(api, plan)
    for rotation in plan:
        for line in result.lines(rotation, answers.get(rotation.used.object_name, {})):
            api.progress(line)
    judge_answers(api, plan, answers)
    for rotation in plan:
        _write(api, rotation)
    return result.build(plan, answers)


def judge_answers(
    api: Api, plan: t.Sequence[Rotation], answers: t.Mapping[str, t.Mapping[str, image.Answer]]
) -> None:
    """Raise PULL-REFUSED if a registry refuses the new content; warn of images that nobody could look up."""
    for rotation in plan:
        found = answers.get(rotation.used.object_name, {})
        if refused := [answer for answer in found.values() if answer.verdict == image.REFUSED]:
            raise AcceleratorError(
                "PULL-REFUSED",
                evidence=[f"{answer.image}: {answer.words}" for answer in refused],
                secret=rotation.used.object_name,
                image=refused[0].image,
                answer=refused[0].words,
                registry=docker_config.host(refused[0].image),
            )
        unknown = [answer for answer in found.values() if answer.verdict != image.THERE]
        if unknown and not api.check_mode:
            api.warn(
                f"{rotation.used.object_name}: it is not known whether the new pull secret can pull "
                f"{', '.join(answer.image for answer in unknown)} ({unknown[0].words})."
            )


def _content(params: GpuPullSecretParams) -> Auths:
    """Return the registries of the new pull secret. Raise InputError."""
    path = params["path"]
    if path is None:
        text, option = params["content"] or "", "gpu_pull_secret (module option content)"
    else:
        option = "gpu_pull_secret_file (module option path)"
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as exc:
            why = exc.strerror if isinstance(exc, OSError) else "it is no text"
            remedy = "Set gpu_pull_secret_file to a file that the machine with Ansible can read."
            why = f"{path} cannot be read: {why}"
            raise InputError("PULL-CONFIG", remedy=remedy, option=option, why=why) from None
    secrets.register(text)
    return docker_config.parse(text, option)


def _used(api: Api, params: GpuPullSecretParams) -> list[Used]:
    """Return the pull secrets that the objects of the GPU stack name, with what pulls with them."""
    fields: dict[str, list[Named]] = {}
    for kind in (*_OF_GPU, "NicClusterPolicy", "NicNodePolicy", "Module"):
        for obj in api.list_if_served(known(kind)):
            place = params["namespace"] if kind in _OF_GPU else params["nic_namespace"]
            place = obj["metadata"]["namespace"] if kind == "Module" else place
            fields.setdefault(place, []).extend(uses.named(kind, obj))
    for place in sorted({params["namespace"], params["nic_namespace"], params["validation_namespace"]}):
        for obj in _accounts(api, place):
            fields.setdefault(place, []).extend(uses.named("ServiceAccount", obj))
    found: list[Used] = []
    for place in sorted(place for place, names in fields.items() if names):
        pods, sets = (api.list_if_served(known(kind), place) for kind in ("Pod", "DaemonSet"))
        found += uses.used(Place(place, pods, sets), fields[place])
    return found


def _accounts(api: Api, namespace: str) -> list[KubeObject]:
    """Return the service accounts of a namespace; warn if the identity may not see them."""
    try:
        return api.list_if_served(known("ServiceAccount"), namespace)
    except ForbiddenError as exc:
        api.warn(f"Pull secrets that only service accounts of {namespace} name are left out: {exc.message}")
        return []


def _live(api: Api, used: Used) -> KubeObject | None:
    live = api.get(_SECRET, used.name, used.namespace)
    if live:
        # Neither a diff nor a message may show the old content either.
        before = docker_config.read(live.get("data") or {})
        secrets.register(*docker_config.secret_strings(before), *(live.get("data") or {}).values())
    return live


def _verify(api: Api, plan: t.Sequence[Rotation]) -> dict[str, dict[str, image.Answer]]:
    """Return Secret -> image -> whether the cluster can pull it with the new content.

    The cluster looks up images with the Secrets of a namespace. A Secret of our own has one login for each
    image. It names the whole image, so the cluster prefers it to every other Secret there.
    """
    wanted = [rotation for rotation in plan if rotation.action != judge.KEEP]
    answers: dict[str, dict[str, image.Answer]] = {}
    for place in sorted({rotation.used.namespace for rotation in wanted}):
        here = [rotation for rotation in wanted if rotation.used.namespace == place]
        images = {
            name: rotation.after[key]
            for rotation in here
            for name in rotation.used.images
            if (key := docker_config.entry_of(rotation.after, name))
        }
        found = _looked_up(api, place, images)
        for rotation in here:
            answers[rotation.used.object_name] = {
                name: found[name] for name in rotation.used.images if name in found
            }
    return answers


def _looked_up(api: Api, namespace: str, images: Auths) -> dict[str, image.Answer]:
    if not images:
        return {}
    if api.check_mode:
        return image.not_asked(images, _MODE)
    before = len(api.changes)
    _create_check(api, namespace, {docker_config.full(name): entry for name, entry in images.items()})
    try:
        return image_steps.look_up(api, images, namespace)
    finally:
        _remove_check(api, namespace)
        # The cluster is as it was, so this counts as no change of the task.
        del api.changes[before:]


def _create_check(api: Api, namespace: str, logins: Auths) -> None:
    manifest = _manifest(CHECK, namespace, logins, MANAGED_BY)
    try:
        api.create(manifest, record=False)
    except ConflictError:
        # A run that was killed left it.
        _remove_check(api, namespace)
        api.create(manifest, record=False)


def _remove_check(api: Api, namespace: str) -> None:
    api.delete(_SECRET, CHECK, namespace, wait=False)


def _manifest(name: str, namespace: str, auths: Auths, labels: t.Mapping[str, str]) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels)},
        "type": docker_config.TYPE,
        "data": docker_config.data(auths),
    }


def _write(api: Api, rotation: Rotation) -> None:
    """Create or replace the Secret. The record of the change has the registries, and nothing else."""
    if rotation.action == judge.KEEP:
        api.kept.append(rotation.used.object_name)
        return
    count = len(api.changes)
    if rotation.action == judge.CREATE:
        api.apply(_manifest(rotation.used.name, rotation.used.namespace, rotation.after, {}))
    else:
        # Another client made the Secret and may keep its other fields.
        api.merge_patch(
            _SECRET, rotation.used.name, rotation.used.namespace, {"data": docker_config.data(rotation.after)}
        )
    before = {"registries": sorted(rotation.before), "content": "the old one"} if rotation.live else {}
    after = {"registries": sorted(rotation.after), "content": "the new one"}
    api.changes[count:] = [Change(rotation.used.object_name, before, after)]
