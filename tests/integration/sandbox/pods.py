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


def pod(client: Client, name: str, **spec: t.Any) -> None:
    container = {"name": "main", "image": "example.com/train:1", "resources": {"requests": {"cpu": "100m"}}}
    metadata = {"name": name, "namespace": "default", "labels": {"app": name}}
    client.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]} | spec}
    )


def running(client: Client, name: str) -> bool:
    found = client.get("v1", "pods", name, "default")
    return found is not None and found["status"].get("phase") == "Running"
