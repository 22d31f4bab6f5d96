# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the names and labels of pools against those of the cluster and of this collection."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import MIG_CONFIG, PLUGIN_CONFIG
from .._core.input import Problems
from .._core.ownership import POOL
from .model import ACCELERATOR

# A pool, or a part of it, as the user wrote it.
Description = dict[str, t.Any]
# A machine set's name is <infrastructure>-<pool>-<zone>. The name of its machine is six characters longer,
# and on most platforms it is also the host name, with at most 63 characters.
LONGEST_SET: t.Final = 57
# The infrastructure name is the cluster's name and six characters. While it is not known, only names that
# are too long for every cluster are wrong.
_SHORTEST_PREFIX: t.Final = 7
# A selector of these roles would bring drivers and validation pods to the control plane.
_CONTROL_PLANE: t.Final = ("node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane")
# The installer's machine sets have these names.
_INSTALLERS: t.Final = ("worker", "infra", "master")


def check_name(pool: Description, path: str, problems: Problems, prefix: str | None) -> None:
    """Add a problem if machine sets cannot have the name. prefix: the infrastructure name."""
    if pool.get("candidates") and pool.get("name") in _INSTALLERS:
        problems.add(
            "POOL-NAME",
            f"{path}.name",
            f"{pool['name']} names the installer's own machine sets.",
            "Choose another name, such as gpu.",
        )
        return
    zones = [zone for one in pool.get("candidates") or [] for zone in one.get("zones") or []]
    for zone in dict.fromkeys(zones):
        most = LONGEST_SET - (len(prefix) if prefix else _SHORTEST_PREFIX) - len(zone) - 2
        if len(pool.get("name") or "") > most:
            problems.add(
                "POOL-NAME",
                f"{path}.name",
                f"with zone {zone} the machine set's name would be longer than {LONGEST_SET} characters.",
                f"Use at most {most} characters.",
            )
            return


def check_labels(pool: Description, path: str, problems: Problems) -> None:
    """Add a problem for each label that the pool may not set."""
    check_roles(pool.get("labels") or {}, f"{path}.labels", problems)
    ours = {POOL: "its value is the pool's name", ACCELERATOR: "set accelerator instead"}
    if pool.get("sharing"):
        ours |= dict.fromkeys((PLUGIN_CONFIG, MIG_CONFIG), "sharing chooses its value")
    for key, why in ours.items():
        if key in (pool.get("labels") or {}):
            problems.add(
                "POOL-LABEL", f"{path}.labels.{key}", f"is set by the collection: {why}.", "Remove it."
            )


def check_roles(labels: t.Mapping[str, t.Any], path: str, problems: Problems) -> None:
    """Add a problem for each label of the control plane."""
    for key in _CONTROL_PLANE:
        if key in labels:
            problems.add(
                "POOL-LABEL",
                f"{path}.{key}",
                "belongs to control-plane nodes: nothing of this collection runs there.",
                "Remove it; another label, such as node-role.kubernetes.io/worker, is allowed.",
            )
