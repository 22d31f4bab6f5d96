# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Give new machines of a pool user data that lets them boot straight into the pool's configuration."""

from __future__ import annotations

import typing as t

from .._core.errors import ForbiddenError, KindNotServedError
from .._core.objects import KubeObject, name
from .._core.ownership import owned, pool_label, selector
from .._kube.client import Api
from .._kube.kinds import known
from . import user_data

SET: t.Final = known("MachineSet")
SECRET: t.Final = known("Secret")
STRAIGHT: t.Final = "boot straight into the pool's configuration"
_ONCE: t.Final = "reboot once after they have joined"


def ensure(api: Api, pool: str) -> str:
    """Write the pool's secret and name it in its machine sets. Return what new machines do, and why."""
    try:
        sets = _sets(api, pool)
        if not sets:
            return f"{_ONCE}: the collection made no machine set of the pool"
        return _written(api, pool, sets)
    except KindNotServedError:
        return f"{_ONCE}: this cluster has no Machine API"
    except ForbiddenError as exc:
        return f"{_ONCE}: {exc.message}"


def _written(api: Api, pool: str, sets: t.Sequence[KubeObject]) -> str:
    own = user_data.secret_name(pool)
    live = api.get(SECRET, own, user_data.NAMESPACE)
    names = {user_data.names_of(machine_set) for machine_set in sets} - {own, ""}
    original = min(names, default=_original(live))
    source = api.get(SECRET, original, user_data.NAMESPACE) if original else None
    wanted = user_data.build(pool, source) if source else None
    if wanted is None:
        return f"{_ONCE}: the user data {original or 'of its machine sets'} is not that of a worker"
    if live is not None and not owned(live):
        return f"{_ONCE}: a secret {own} exists, and this collection did not make it"
    # The operator writes a new certificate authority into both secrets.
    api.apply(wanted, force_conflicts=True, live=live)
    _point(api, sets, own)
    return STRAIGHT


def restore(api: Api, pool: str) -> None:
    """Give the pool's machine sets the workers' user data again, before its configuration goes."""
    try:
        live = api.get(SECRET, user_data.secret_name(pool), user_data.NAMESPACE)
        if original := _original(live):
            sets = [one for one in _sets(api, pool) if user_data.names_of(one) == user_data.secret_name(pool)]
            _point(api, sets, original)
    except KindNotServedError:
        return


def remove(api: Api, pool: str) -> None:
    """Delete the pool's secret."""
    api.delete(SECRET, user_data.secret_name(pool), user_data.NAMESPACE)


def _original(secret: KubeObject | None) -> str:
    """Return the name of the secret that ours is a copy of, or an empty text."""
    if secret is None or not owned(secret):
        return ""
    return str((secret["metadata"].get("annotations") or {}).get(user_data.COPY_OF) or "")


def _sets(api: Api, pool: str) -> list[KubeObject]:
    found = api.list(SET, user_data.NAMESPACE, labels=selector(pool_label(pool)))
    return [one for one in found if owned(one) and user_data.names_of(one)]


def _point(api: Api, sets: t.Iterable[KubeObject], secret: str) -> None:
    for machine_set in sets:
        if user_data.names_of(machine_set) != secret:
            api.merge_patch(SET, name(machine_set), user_data.NAMESPACE, user_data.patch(machine_set, secret))
