# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks that a pod asks for, and definitions of networks: what Multus and its webhook read."""

from __future__ import annotations

import json
import re
import typing as t

from openshift_sandbox.stand_ins.core.webhooks import Denial

Object = dict[str, t.Any]

NETWORKS: t.Final = "k8s.v1.cni.cncf.io/networks"
STATUS: t.Final = "k8s.v1.cni.cncf.io/network-status"
RESOURCE: t.Final = "k8s.v1.cni.cncf.io/resourceName"
# Where pods of other namespaces may refer to, although OpenShift isolates namespaces.
SHARED: t.Final = ("default", "openshift-multus", "openshift-sriov-network-operator", "openshift-cnv")
_NAME: t.Final = re.compile(r"^[a-z-1-9]([-a-z0-9]*[a-z0-9])?$")


class Wanted(t.NamedTuple):
    """One network that a pod asks for."""

    namespace: str
    name: str
    interface: str
    ips: t.Sequence[str] = ()


def wanted(pod: Object) -> list[Wanted]:
    """Return the networks of a pod's annotation, as a list of names or as JSON."""
    text = ((pod["metadata"].get("annotations") or {}).get(NETWORKS) or "").strip()
    own = pod["metadata"].get("namespace") or ""
    if text.startswith("["):
        asked = [
            (one.get("namespace") or own, one["name"], one.get("interface"), one.get("ips") or ())
            for one in json.loads(text)
        ]
    else:
        asked = []
        for part in filter(None, (part.strip() for part in text.split(","))):
            where, _at, interface = part.partition("@")
            namespace, _slash, name = where.rpartition("/")
            asked.append((namespace or own, name, interface, ()))
    return [
        Wanted(namespace, name, interface or f"net{number}", ips)
        for number, (namespace, name, interface, ips) in enumerate(asked, start=1)
    ]


def problem(definition: Object) -> str:
    """Return why the webhook of Multus refuses a definition; an empty text if it does not."""
    if not _NAME.match(definition["metadata"]["name"]):
        return "net-attach-def name is invalid"
    text = (definition.get("spec") or {}).get("config")
    if not text:
        return ""
    try:
        config = json.loads(text)
    except ValueError:
        config = None
    if not isinstance(config, dict):
        return "configuration string is not in JSON format"
    parts = config.get("plugins", [config])
    return "" if all("type" in part for part in parts) else "invalid config"


def review(request: Object) -> Denial | None:
    """Judge a new or changed NetworkAttachmentDefinition."""
    text = problem(request["object"])
    return Denial(text, 400, "") if text else None
