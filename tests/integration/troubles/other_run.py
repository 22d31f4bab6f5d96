# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run on another machine that holds the lease of the cluster."""

from __future__ import annotations

import datetime
import typing as t

from openshift_sandbox.client import Client

LEASE: t.Final = ("coordination.k8s.io/v1", "leases", "accelerators-openshift", "default")
# A run on another machine: nobody here can see whether its process lives.
THEIRS: t.Final = "eva|laptop|elsewhere.1|4711|99|12"


def hold(client: Client, ago: float) -> None:
    """Let the other run hold the lease, renewed so many seconds ago."""
    renewed = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=ago)
    client.apply(
        {
            "apiVersion": LEASE[0],
            "kind": "Lease",
            "metadata": {"name": LEASE[2], "namespace": LEASE[3]},
            "spec": {
                "holderIdentity": THEIRS,
                "leaseDurationSeconds": 30,
                "renewTime": renewed.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            },
        }
    )
