# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests' pods, and the events about an object."""

from __future__ import annotations

import typing as t

from openshift_sandbox.client import Client


def events(client: Client, namespace: str, about: str, reason: str) -> list[str]:
    """Return the messages of the events about an object with this reason."""
    found = client.list("v1", "events", namespace)
    return [
        one["message"] for one in found if one["involvedObject"]["name"] == about and one["reason"] == reason
    ]


def pod(client: Client, name: str, annotations: dict[str, str] | None = None, **spec: t.Any) -> None:
    """Create a pod of one container; annotations: what befalls it, as the sandbox plays it."""
    container = {"name": "main", "image": "example.com/train:1", "resources": {"requests": {"cpu": "100m"}}}
    played = {f"sandbox.openshift/{key}": value for key, value in (annotations or {}).items()}
    metadata = {"name": name, "namespace": "default", "labels": {"app": name}, "annotations": played}
    client.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]} | spec}
    )


def running(client: Client, name: str) -> bool:
    found = client.get("v1", "pods", name, "default")
    return found is not None and found["status"].get("phase") == "Running"


def phase(client: Client, name: str) -> str:
    """Return a pod's phase, and how its first container ended or why it waits."""
    found = client.get("v1", "pods", name, "default") or {}
    state = (found.get("status", {}).get("containerStatuses") or [{"state": {}}])[0]["state"]
    ended = state.get("terminated", {})
    reason = state.get("waiting", {}).get("reason", "")
    return f"{found['status']['phase']} {ended.get('exitCode', '')}{reason}".strip()
