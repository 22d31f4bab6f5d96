# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Taking an operator away: which CSVs go with its Subscription, and what is still in the way."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _olm_csv as olm_csv
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._ownership import owned

Object = dict[str, t.Any]

_EVERYWHERE: t.Final = ("kube-root-ca.crt", "openshift-service-ca.crt")
_OLM_LABELS: t.Final = ("olm.", "operators.coreos.com/")


def csvs(subscription: Object | None, namespace: Object | None, found: t.Sequence[Object], package: str) -> list[Object]:
    """The CSVs of our Subscription; where that is gone already (a run that was interrupted), those of the package in our namespace."""
    own = [one for one in found if not olm_csv.is_copied(one)]
    if subscription is not None:
        status = subscription.get("status") or {}
        names = {status.get("installedCSV"), status.get("currentCSV")}
        return [one for one in own if one["metadata"]["name"] in names]
    label = f"operators.coreos.com/{package}."
    return [one for one in own if owned(namespace) and any(key.startswith(label) for key in one["metadata"].get("labels") or {})]


def others(subscriptions: t.Iterable[Object], found: t.Iterable[Object], removed: t.Sequence[Object]) -> list[str]:
    """Operators that go on living in the namespace."""
    gone = [one["metadata"]["uid"] for one in removed]
    left = [one for one in (*subscriptions, *found) if one["metadata"]["uid"] not in gone and not olm_csv.is_copied(one)]
    return [f"{one['kind']} {one['metadata']['name']}" for one in left]


def check_unused(resources: t.Iterable[Object], package: str) -> None:
    """Custom resources that only this operator can clean up after go first."""
    lines = [f"{one['kind']} {one['metadata']['name']}" for one in resources if _stands_alone(one)]
    if lines:
        message = f"{len(lines)} custom resources of {package} still exist ({', '.join(lines[:5])}); without the operator their operands stay for ever."
        raise AcceleratorError("OLM-IN-USE", message, "Delete them first, or set force: true.", lines, layer="olm")


def strangers(contents: t.Iterable[Object]) -> list[str]:
    """What somebody else keeps in the namespace: neither ours, nor OLM's, nor made by a controller."""
    return [f"{one['kind']} {one['metadata']['name']}" for one in contents if _stands_alone(one) and not owned(one) and not _is_furniture(one)]


def _stands_alone(obj: Object) -> bool:
    return not obj["metadata"].get("ownerReferences")


def _is_furniture(obj: Object) -> bool:
    """What every namespace has, and what OLM puts beside an operator."""
    metadata = obj["metadata"]
    annotations, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
    return (
        metadata["name"] in _EVERYWHERE
        or any(key.startswith("kubernetes.io/service-account.") or key == "openshift.io/internal-registry-auth-token.service-account" for key in annotations)
        or any(key.startswith(_OLM_LABELS) for key in labels)
    )
