# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The known fields of GCPMachineProviderSpec (see C(shape)) in release 4.22, which has no reservation."""

from __future__ import annotations

import typing as t

_KEY: t.Final = {"name": None, "keyRing": None, "projectID": None, "location": None}

SHAPE: t.Final[dict[str, t.Any]] = {
    "apiVersion": None,
    "kind": None,
    "metadata": {"creationTimestamp": None},
    "userDataSecret": {"name": None},
    "credentialsSecret": {"name": None},
    "canIPForward": None,
    "deletionProtection": None,
    "disks": [
        {
            "autoDelete": None,
            "boot": None,
            "sizeGb": None,
            "type": None,
            "image": None,
            "labels": None,
            "encryptionKey": {"kmsKey": _KEY, "kmsKeyServiceAccount": None},
        }
    ],
    "labels": None,
    "gcpMetadata": [{"key": None, "value": None}],
    "networkInterfaces": [{"publicIP": None, "network": None, "projectID": None, "subnetwork": None}],
    "serviceAccounts": [{"email": None, "scopes": None}],
    "tags": None,
    "targetPools": None,
    "machineType": None,
    "region": None,
    "zone": None,
    "projectID": None,
    "gpus": [{"count": None, "type": None}],
    "preemptible": None,
    "provisioningModel": None,
    "onHostMaintenance": None,
    "restartPolicy": None,
    "shieldedInstanceConfig": {
        "secureBoot": None,
        "virtualizedTrustedPlatformModule": None,
        "integrityMonitoring": None,
    },
    "confidentialCompute": None,
    "resourceManagerTags": [{"parentID": None, "key": None, "value": None}],
}
