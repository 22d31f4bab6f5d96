# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The parameters of olm_operator."""

from __future__ import annotations

import typing as t

from .._frame.params import LockParams, StateParams


class OlmOperatorParams(LockParams, StateParams):
    """The options of olm_operator. grace: seconds for which a catalogue may be away."""

    name: str
    namespace: str
    namespace_labels: dict[str, t.Any]
    channel: str | None
    csv: str | None
    source: str | None
    source_namespace: str
    install_mode: t.Literal["OwnNamespace", "AllNamespaces"] | None
    approve: t.Literal["install", "upgrade", "never"]
    allow_csvs: list[str]
    adopt: t.Literal["report", "take"]
    driver_change: t.Literal["ask", "pin", "allow"]
    grace: float
    force: bool
    remove_crds: bool
