# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Mark Machines that are about to be deleted."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject
from ..._kube.client import Api
from ..._kube.kinds import known
from .. import removal
from ..machine import name


def mark(api: Api, namespace: str, machines: t.Iterable[KubeObject]) -> None:
    """Mark Machines as the first that their sets delete, and remove this collection's hook."""
    for machine in machines:
        if body := removal.released(machine):
            api.merge_patch(known("Machine"), name(machine), namespace, body)


def unhook(api: Api, namespace: str, machines: t.Iterable[KubeObject]) -> None:
    """Remove this collection's hook, so that it does not hold up a drain."""
    for machine in machines:
        if body := removal.without_hook(machine):
            api.merge_patch(known("Machine"), name(machine), namespace, body)
