# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The known fields of AzureMachineProviderSpec (see SHAPE of C(Platform))."""

from __future__ import annotations

import typing as t

_UEFI: t.Final = {"uefiSettings": {"secureBoot": None, "virtualizedTrustedPlatformModule": None}}
_ENCRYPTION: t.Final = {"id": None}

SHAPE: t.Final[dict[str, t.Any]] = {
    "apiVersion": None,
    "kind": None,
    "metadata": {"creationTimestamp": None},
    "userDataSecret": {"name": None, "namespace": None},
    "credentialsSecret": {"name": None, "namespace": None},
    "location": None,
    "vmSize": None,
    "image": {
        "publisher": None,
        "offer": None,
        "sku": None,
        "version": None,
        "resourceID": None,
        "type": None,
    },
    "osDisk": {
        "osType": None,
        "managedDisk": {
            "storageAccountType": None,
            "diskEncryptionSet": _ENCRYPTION,
            "securityProfile": {"diskEncryptionSet": _ENCRYPTION, "securityEncryptionType": None},
        },
        "diskSizeGB": None,
        "diskSettings": {"ephemeralStorageLocation": None},
        "cachingType": None,
    },
    "dataDisks": [
        {
            "nameSuffix": None,
            "diskSizeGB": None,
            "managedDisk": {"storageAccountType": None, "diskEncryptionSet": _ENCRYPTION},
            "lun": None,
            "cachingType": None,
            "deletionPolicy": None,
        }
    ],
    "sshPublicKey": None,
    "publicIP": None,
    "tags": None,
    "securityGroup": None,
    "applicationSecurityGroups": None,
    "subnet": None,
    "publicLoadBalancer": None,
    "internalLoadBalancer": None,
    "natRule": None,
    "managedIdentity": None,
    "vnet": None,
    "zone": None,
    "networkResourceGroup": None,
    "resourceGroup": None,
    "spotVMOptions": {"maxPrice": None},
    "securityProfile": {
        "encryptionAtHost": None,
        "settings": {"securityType": None, "confidentialVM": _UEFI, "trustedLaunch": _UEFI},
    },
    "ultraSSDCapability": None,
    "acceleratedNetworking": None,
    "availabilitySet": None,
    "diagnostics": {"boot": {"storageAccountType": None, "customerManaged": {"storageAccountURI": None}}},
    "capacityReservationGroupID": None,
}
