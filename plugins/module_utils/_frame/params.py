# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Types of the parameters that many modules share, and of the parameters of the module `manifests`."""

from __future__ import annotations

import typing as t


class WaitParams(t.TypedDict):
    """The options of `argspec.WAIT`. wait_timeout: seconds for the whole task."""

    wait: bool
    wait_timeout: int


class StateParams(WaitParams):
    """The options of `argspec.STATE` and `argspec.WAIT`."""

    state: t.Literal["present", "absent"]


class LockParams(t.TypedDict):
    """The option of `argspec.LOCK`. lock_timeout: seconds to wait for another run."""

    lock_timeout: int


class ManifestsParams(StateParams):
    """The options of the module `manifests`. objects: maps, YAML texts, or one YAML text."""

    objects: t.Any
    namespace: str | None
    force_conflicts: bool
