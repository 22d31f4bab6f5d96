# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""An operator across many kinds: its offer in a catalogue, and its removal without taking anything else along."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _olm as olm
from ansible_collections.accelerators.openshift.plugins.module_utils import _olm_csv as olm_csv
from ansible_collections.accelerators.openshift.plugins.module_utils import _olm_removal as removal
from ansible_collections.accelerators.openshift.plugins.module_utils import _package as packages
from ansible_collections.accelerators.openshift.plugins.module_utils._api import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import KindNotServedError
from ansible_collections.accelerators.openshift.plugins.module_utils._kinds import Kind, known
from ansible_collections.accelerators.openshift.plugins.module_utils._ownership import owned

Object = dict[str, t.Any]

_CONTENTS: t.Final = ("Deployment", "DaemonSet", "StatefulSet", "Job", "CronJob", "Pod", "PersistentVolumeClaim", "Service", "ConfigMap", "Secret")


def offer(api: Api, name: str, source: str | None, source_namespace: str, is_new: bool) -> Object:
    """The package. A list of all packages is tens of megabytes on a real cluster, so it is read only when there is no such package."""
    kind = known("PackageManifest")
    first = api.get(kind, name, source_namespace)
    found = packages.choose([first] if first else [], name, source)
    offered = [] if found else api.list(kind, source_namespace)
    found = found or packages.choose(offered, name, source)
    catalogs = api.list(known("CatalogSource"), source_namespace) if found is None or is_new else []
    if found is None:
        raise packages.missing(name, source, offered, catalogs)
    if is_new:
        packages.check_catalog(found, catalogs)
    return found


def remove(api: Api, name: str, namespace: str, force: bool) -> None:
    """Our Subscription and its CSV; then our OperatorGroup and Namespace, unless something else lives there."""
    try:
        subscriptions, found = api.list(known("Subscription"), namespace), api.list(known("ClusterServiceVersion"), namespace)
    except KindNotServedError:
        return
    home, live = api.get(known("Namespace"), namespace), olm.subscribed(subscriptions, name, namespace)
    if live is not None and not owned(live):
        api.warn(f"Subscription {live['metadata']['name']} was not created by this collection; the operator stays.")
        return
    doomed = removal.csvs(live, home, found, name)
    if not force and not api.check_mode:
        removal.check_unused(_custom_resources(api, doomed), name)
    removed = [*([live] if live else []), *doomed]
    for one in removed:
        api.delete(known(one["kind"]), one["metadata"]["name"], namespace, owned_only=one is live)
    if not removal.others(subscriptions, found, removed):
        _remove_home(api, namespace, home)


def _remove_home(api: Api, namespace: str, home: Object | None) -> None:
    for group in filter(owned, api.list(known("OperatorGroup"), namespace)):
        api.delete(known("OperatorGroup"), group["metadata"]["name"], namespace)
    if not owned(home):
        return
    # Metadata only, so that no Secret is read.
    strangers = removal.strangers(one for kind in _CONTENTS for one in api.list(known(kind), namespace, metadata_only=True))
    if strangers:
        api.warn(f"Namespace {namespace} stays: it holds {', '.join(strangers)}.")
    else:
        api.delete(known("Namespace"), namespace)


def _custom_resources(api: Api, csvs: t.Iterable[Object]) -> list[Object]:
    """Everything of the kinds that these CSVs own."""
    found: list[Object] = []
    for api_version, kind, plural in sorted({one for csv in csvs for one in olm_csv.owned_kinds(csv)}):
        try:
            found += api.list(Kind(api_version, kind, plural), metadata_only=True)
        except KindNotServedError:
            continue
    return found
