# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The platforms that machine sets can be made for; one file each."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import _aws
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms._wanted import Wanted

Data = dict[str, t.Any]


class Platform(t.Protocol):
    """What a platform's file offers; provider: the value of a template's providerSpec."""

    def zone(self, provider: t.Mapping[str, t.Any]) -> str: ...

    def instance_type(self, provider: t.Mapping[str, t.Any]) -> str: ...

    def build(self, source: t.Mapping[str, t.Any], wanted: Wanted) -> Data:
        """A whitelist copy of the source with what is wanted put in its place."""

    def unknown(self, provider: t.Mapping[str, t.Any]) -> list[str]:
        """Fields of the provider's value that are not of its known shape."""


PLATFORMS: t.Final[dict[str, Platform]] = {"AWS": t.cast(Platform, _aws)}
