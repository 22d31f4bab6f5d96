# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that opt nodes out of NVSentinel while we change them, and in again when they work."""

from __future__ import annotations

import contextlib
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name
from .._kube.client import Api
from .._kube.kinds import known
from . import sentinel

_NODE: t.Final = known("Node")


def is_there(api: Api) -> bool:
    """Return whether the cluster has NVSentinel. Nobody who may not read its namespace is asked for more."""
    with contextlib.suppress(AcceleratorError):
        return api.get(known("Namespace"), sentinel.NAMESPACE) is not None
    return False


def opt_out(api: Api, nodes: t.Iterable[KubeObject]) -> list[str]:
    """Opt these nodes out. Return the names of those that somebody else has not decided about."""
    done = []
    for node in nodes:
        if body := sentinel.opt_out(node, api.run.id):
            api.merge_patch(_NODE, name(node), None, body)
            done.append(name(node))
    return done


def take_back(api: Api, nodes: t.Iterable[KubeObject] | None = None) -> list[str]:
    """Opt nodes in again that work: those of this run, and of runs that are over. Return the others.

    nodes: as they are now; None for all that are opted out.
    """
    found = api.list(_NODE, labels=f"{sentinel.MANAGED}=false") if nodes is None else nodes
    left = []
    for node in found:
        run = sentinel.run_of(node)
        if not run or not (run == api.run.id or api.guard.is_over(run)):
            continue
        if sentinel.is_healthy(node):
            api.merge_patch(_NODE, name(node), None, sentinel.opt_in(node))
        else:
            left.append(name(node))
    return left


@contextlib.contextmanager
def opted_out(api: Api, nodes: t.Callable[[], t.Iterable[KubeObject]]) -> t.Iterator[None]:
    """Opt nodes out during a change, also one that fails. A node that does not work then stays opted out.

    The next run takes its label back, and that of a run that was killed. nodes: returns them as they are.
    """
    if not is_there(api):
        yield
        return
    take_back(api)
    opt_out(api, nodes())
    try:
        yield
    except AcceleratorError:
        with contextlib.suppress(AcceleratorError):
            _end(api)
        raise
    if api.wait_wanted:
        _end(api)


def _end(api: Api) -> None:
    if left := take_back(api):
        api.warn(
            f"NVSentinel leaves {', '.join(left)} alone (label {sentinel.MANAGED}=false): not all devices "
            "are there yet. The next run that finds them working takes the label back; validate.yml is one."
        )
