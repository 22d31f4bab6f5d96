# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps for driver images: look them up, refuse missing ones, take them from a mirror."""

from __future__ import annotations

import copy
import typing as t
from dataclasses import replace

from ..._core.errors import ApiError, ForbiddenError, KindNotServedError
from ..._core.objects import KubeObject, name
from ..._kube.client import Api
from ..._kube.kinds import known
from ..._nodes.labels import has_nvidia_pci, labels
from ..._nodes.pool_nodes import names_of
from ..params import StackParams, StackPool
from . import files

if t.TYPE_CHECKING:
    from . import image

# Functions import what only precompiled drivers or a mirror need.

# A silent registry holds the API server up for half a minute; a second request learns nothing new.
PATIENCE: t.Final = 40.0


def look_up(api: Api, images: t.Iterable[str], namespace: str) -> dict[str, image.Answer]:
    """Return image -> whether it exists, from one request with the pull secrets of the namespace.

    This raises nothing: if the request fails, each answer says why. The request is a dry run and stores
    nothing, so check mode sends it too, and it is repeated like a read.
    """
    from . import image

    wanted = sorted(set(images))
    if not wanted:
        return {}
    try:
        told = _patient(api).dry_run_create(image.lookup_question(wanted, namespace))
    except KindNotServedError:
        return image.not_asked(wanted, image.NO_API)
    except ForbiddenError as exc:
        verb = "the identity lacks the verb create on imagestreamimports.image.openshift.io"
        lacking = f"{verb} in namespace {namespace}"
        return image.not_asked(wanted, lacking if exc.code == "API-FORBIDDEN" else exc.message)
    except ApiError as exc:
        return image.not_asked(wanted, exc.message)
    return image.lookup_answers(wanted, told)


def _patient(api: Api) -> Api:
    """Return a copy of api that waits longer for an answer and repeats a request for a shorter time."""
    http = copy.copy(api.http)
    http.limits = http.limits._replace(first_read=PATIENCE, outage=PATIENCE)
    return replace(api, http=http)


def refuse_missing(api: Api, params: StackParams, drivers: t.Iterable[image.Change]) -> None:
    """Raise NotReadyError if the kernel of a node has no precompiled driver; warn if that is unknown.

    An unchanged driver needs no request: its pods show whether its image exists.
    """
    new = [one for one in drivers if one.is_new]
    if not new:
        return
    from . import image

    nodes = api.list(known("Node"), keep=lambda node: node if has_nvidia_pci(labels(node)) else None)
    needs = [need for one in new for need in image.precompiled(one.after, filter(one.is_for, nodes))]
    told = look_up(api, (one for need in needs for one in need.images), params.namespace)
    every: StackPool = {"name": "", "node_selector": {}}
    ours = names_of(nodes, params.pools or [every])
    for text in image.judge(needs, told, ours):
        api.warn(text)


def refuse_unmade(api: Api, params: StackParams, live: KubeObject, spec: t.Mapping[str, t.Any]) -> None:
    """Raise if the driver image of this ClusterPolicy does not exist. NVIDIADrivers check their own."""
    before, after = ((one.get("driver") or {}) for one in (live.get("spec") or {}, spec))
    if after.get("usePrecompiled") and not after.get("useNvidiaDriverCRD"):
        from . import image

        refuse_missing(api, params, [image.Change(before, after)])


def write_files(api: Api, params: StackParams) -> None:
    """Write the files that option driver_files gives the driver."""
    for one in files.config_maps(params):
        live = api.get(known("ConfigMap"), name(one), params.namespace)
        api.apply(one, live=live)


def remove_files(api: Api, params: StackParams, pods: t.Sequence[KubeObject]) -> None:
    """Delete the ConfigMaps of earlier contents that no driver pod has any more."""
    if not files.config_maps(params) or not api.wait_wanted or api.check_mode:
        return
    kind, namespace = known("ConfigMap"), params.namespace
    for object_name in files.left_over(params, api.list(kind, namespace, labels=files.LABEL), pods):
        api.delete(kind, object_name, namespace)


def mirrored(api: Api, params: StackParams, csvs: t.Callable[[], list[KubeObject]]) -> StackParams:
    """Return the options with images of the mirror in option registry; unchanged without that option.

    csvs: returns the installed operators' ClusterServiceVersions.
    """
    mirror = params.registry
    if not mirror:
        return params
    from . import registry

    sets = [{"kind": kind, **one} for kind in registry.SETS for one in api.list_if_served(known(kind))]
    found = registry.mirrored(vars(params), mirror, registry.images(csvs()), registry.sources(sets))
    if found.kept:
        api.warn(
            f"registry: nothing was rewritten for {', '.join(found.kept)}, "
            "since the cluster sends those images to a mirror already."
        )
    if found.unknown:
        api.warn(
            f"registry: the operator does not say which images it takes for {', '.join(found.unknown)}; "
            "give version, repository and image there."
        )
    return replace(params, **found.params)
