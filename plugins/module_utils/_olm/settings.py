# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of olm_operator as a remedy names them: the user of a playbook sets a role's variable."""

from __future__ import annotations

import typing as t

# Package -> the beginning of the variables with which a role installs it.
_ROLES: t.Final = {
    "gpu-operator-certified": "gpu_operator",
    "kueue-operator": "gpu_policy_queue_operator",
    "nfd": "node_feature_discovery",
    "nvidia-network-operator": "nvidia_network_operator",
}


def variable(package: str, option: str) -> str:
    """Return the option's name in remedies: the role's variable if a role installs the package."""
    role = _ROLES.get(package)
    return f"{role}_{option} (module option {option})" if role else option


def assignment(package: str, option: str, value: str) -> str:
    """Return the option with its value, as it is written into a file of variables."""
    role = _ROLES.get(package)
    return f"{role}_{option}: {value} (module option {option})" if role else f"{option}: {value}"


def another_catalogue(package: str) -> str:
    """Return how a remedy says to take another catalogue."""
    return f"{variable(package, 'source')} to another catalogue"
