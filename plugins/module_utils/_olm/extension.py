# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""ClusterExtension: a package that OLM v1 owns, cluster-wide and without a Subscription."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError

Object = dict[str, t.Any]


def package(extension: Object) -> str:
    catalog = ((extension.get("spec") or {}).get("source") or {}).get("catalog") or {}
    return str(catalog.get("packageName") or "")


def refuse(extensions: t.Iterable[Object], wanted: str) -> None:
    """Two managers of one package undo each other's CRDs and Deployments."""
    found = next((one for one in extensions if package(one) == wanted), None)
    if found is None:
        return
    name, spec = found["metadata"]["name"], found.get("spec") or {}
    bundle = ((found.get("status") or {}).get("install") or {}).get("bundle") or {}
    what = bundle.get("name") or "nothing yet"
    message = f"Package {wanted} belongs to OLM v1: ClusterExtension {name} installs it in namespace {spec.get('namespace')} (installed: {what})."
    remedy = f"Manage it there, or delete it first, operands before it: oc delete clusterextension {name}. Its CRDs go with it."
    raise AcceleratorError(
        "OLM-V1",
        message,
        remedy,
        [_line(one) for one in (found.get("status") or {}).get("conditions") or []],
    )


def _line(condition: Object) -> str:
    return f"{condition.get('type')}={condition.get('status')} ({condition.get('reason')}): {condition.get('message')}"
