# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages of stand-ins, and the reconcilers that they name."""

from __future__ import annotations

import importlib
import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Reconciler

ORDER: t.Final = (
    "core",
    "controller_manager",
    "container_runtime",
    "olm",
    "clouds",
    "machine_api",
    "machine_config",
    "node_tuning",
    "autoscaler",
    "cluster_network",
    "nfd",
    "gpu_operator",
    "network_operator",
    "sriov",
    "device_plugins",
    "kmm",
    "kubevirt",
    "kueue",
    "quotas",
    "policy_engine",
    "managed_openshift",
    "sro",
    "people",
    "image_registry",
    "api_server",
    "admission",
    "oauth",
    "monitoring",
)
"""A package imports only packages before it. A change travels, and the loop calls, in the same order."""

WITHOUT_RECONCILERS: t.Final = {
    "core": "holds what all stand-ins share",
    "api_server": "answers look-ups of images through the process of `admission`",
    "image_registry": "is a process of its own, which look-ups of images and clients call",
    "admission": "is a process of its own, which the API server calls",
    "oauth": "is a process of its own, which clients call",
    "monitoring": "is a process of its own, which clients and Prometheus call",
}
"""The packages that have no file `reconcilers.py`, each with the reason."""


def reconcilers() -> list[Reconciler]:
    """Return one new reconciler of each class that a package names, in the order of the packages."""
    return [make() for package in ORDER if package not in WITHOUT_RECONCILERS for make in classes(package)]


def classes(package: str) -> tuple[type[Reconciler], ...]:
    """Return the reconciler classes that the file `reconcilers.py` of a package names."""
    module = importlib.import_module(f"openshift_sandbox.stand_ins.{package}.reconcilers")
    return t.cast(tuple[type[Reconciler], ...], module.RECONCILERS)
