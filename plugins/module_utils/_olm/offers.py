# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""A package's offer: one catalogue, or the reason why there is none or more than one. A catalogue that is away is waited for."""

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
    """The package. That its catalogue does not answer has to last for grace seconds: its pod may just be replaced."""
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
    """Judge: the catalogue is back, or was away for too long; either way there is nothing more to wait for."""

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
        # Packages are read anew only when a catalogue came or went, or while one that is back is not listed yet.
        if (usable != self._usable and any(usable.values())) or all(usable.values()):
            self._usable = usable
            try:
                self.found = self._look()
            except AcceleratorError as exc:
                self.trouble = exc
        if self.found is not None or self._clock() >= self._ends:
            return ready("Over", "the catalogue was waited for")
        return pending("Away", self.trouble.message, code=self.trouble.code, remedy=self.trouble.remedy)


def _find(api: Api, name: str, source: str | None, source_namespace: str, is_new: bool) -> KubeObject:
    """A list of all packages is tens of megabytes on a real cluster: it is read only where a get will not do, and with a source only its part."""
    kind = known("PackageManifest")
    first = api.get(kind, name, source_namespace)
    found = catalogue.choose([first] if first else [], name, source)
    offered: list[KubeObject] = []
    if found is None or (source is None and is_new):
        # A get answers with any one of several catalogues that carry the name.
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
    """Deprecations, before anything is installed."""
    for line in catalogue.deprecations(offer, catalogue.channel(offer, ask.channel), ask.csv or ask.head):
        api.warn(line)


def _hub(api: Api) -> KubeObject | None:
    try:
        return api.get(known("OperatorHub"), "cluster")
    except KindNotServedError:
        return None
