# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Search for a package in the catalogues, and wait for a catalogue that does not answer."""

from __future__ import annotations

import functools
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    catalogue,
    observed,
    subscription,
)


def find(
    api: Api, name: str, source: str | None, source_namespace: str, is_new: bool, grace: float
) -> KubeObject:
    """Return the package. Raise why there is none, or more than one.

    grace: seconds to wait for a catalogue that does not answer, because its pod may just be replaced.
    """
    look = functools.partial(_find, api, name, source, source_namespace, is_new)
    try:
        return look()
    except catalogue.AwayError as exc:
        judge = _Return(look, exc, api.clock, grace)
    api.wait(
        {"catalogs": Query(known("CatalogSource"), source_namespace)},
        judge,
        f"package {name}",
        on_timeout_code=judge.trouble.code,
    )
    if judge.found is None:
        raise judge.trouble
    return judge.found


class _Return:
    """Judge of the wait for a catalogue: ready if it is back, and also when the grace period is over."""

    def __init__(
        self,
        look: t.Callable[[], KubeObject],
        trouble: AcceleratorError,
        clock: t.Callable[[], float],
        grace: float,
    ) -> None:
        self._look, self.trouble, self._clock, self._ends = look, trouble, clock, clock() + grace
        self.found: KubeObject | None = None
        self._usable: dict[str, bool] = {}

    def __call__(self, seen: t.Mapping[str, t.Sequence[KubeObject]]) -> Readiness:
        usable = {
            one["metadata"]["name"]: catalogue.catalog_state(one) in observed.USABLE
            for one in seen["catalogs"]
        }
        # Read the packages again only if a catalogue came or went, or one that is back is not listed yet.
        if (usable != self._usable and any(usable.values())) or all(usable.values()):
            self._usable = usable
            try:
                self.found = self._look()
            except AcceleratorError as exc:
                self.trouble = exc
        if self.found is not None or self._clock() >= self._ends:
            return ready("Over", "the wait for the catalogue is over")
        return pending("Away", self.trouble.message, code=self.trouble.code, remedy=self.trouble.remedy)


def _find(api: Api, name: str, source: str | None, source_namespace: str, is_new: bool) -> KubeObject:
    """Return the package by a get if that is enough.

    A list of all packages has tens of megabytes on a real cluster; with a source only its part is read.
    """
    kind = known("PackageManifest")
    first = api.get(kind, name, source_namespace)
    found = catalogue.choose([first] if first else [], name, source)
    offered: list[KubeObject] = []
    if found is None or (source is None and is_new):
        # If several catalogues have the package, a get returns that of any one.
        offered = api.list(kind, source_namespace, labels=f"catalog={source}" if source and first else None)
        found = found or catalogue.choose(offered, name, source)
    catalogs = api.list(known("CatalogSource"), source_namespace) if found is None or is_new else []
    if found is None:
        raise catalogue.missing(name, source, offered, catalogs, _hub(api))
    if is_new:
        if source is None:
            catalogue.check_one_source(name, catalogue.sources(offered, name), catalogs)
        catalogue.check_catalog(found, catalogs)
    return found


def warn(api: Api, offer: KubeObject, ask: subscription.Ask) -> None:
    """Warn about deprecations before anything is installed."""
    for line in catalogue.deprecations(offer, catalogue.channel(offer, ask.channel), ask.csv or ask.head):
        api.warn(line)


def _hub(api: Api) -> KubeObject | None:
    try:
        return api.get(known("OperatorHub"), "cluster")
    except KindNotServedError:
        return None
