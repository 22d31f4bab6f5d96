# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of provider specifications, as in the Machine API's Go types (openshift/api, release 4.22)."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.admission.go_types import (
    ANY_MAP,
    ANY_MAP_ALWAYS,
    BOOL,
    BOOL_ALWAYS,
    BOOL_PTR,
    INT,
    INT_ALWAYS,
    INT_PTR,
    QUANTITY_ALWAYS,
    QUANTITY_PTR,
    STR,
    STR_ALWAYS,
    STR_PTR,
    Go,
    pointer,
    several,
    struct,
)

_METADATA: t.Final = struct(
    creationTimestamp=STR,
    name=STR,
    generateName=STR,
    namespace=STR,
    labels=ANY_MAP,
    annotations=ANY_MAP,
    uid=STR,
)
_HEAD: t.Final[dict[str, Go]] = {"kind": STR, "apiVersion": STR, "metadata": _METADATA}
_LOCAL: t.Final = pointer(name=STR)
_SECRET: t.Final = pointer(name=STR, namespace=STR)

_FILTERS: t.Final = several(struct(name=STR_ALWAYS, values=several(STR)))
_REFERENCE: t.Final = struct(id=STR_PTR, arn=STR_PTR, filters=_FILTERS)
_TAGS: t.Final = several(struct(name=STR_ALWAYS, value=STR_ALWAYS))
_HOST: t.Final = pointer(
    affinity=STR_PTR,
    dedicatedHost=pointer(allocationStrategy=STR_PTR, id=STR, dynamicHostAllocation=pointer(tags=_TAGS)),
)
_EBS: t.Final = pointer(
    deleteOnTermination=BOOL_PTR,
    encrypted=BOOL_PTR,
    kmsKey=_REFERENCE,
    iops=INT_PTR,
    throughputMib=INT_PTR,
    volumeSize=INT_PTR,
    volumeType=STR_PTR,
)

AWS: t.Final = struct(
    **_HEAD,
    ami=_REFERENCE,
    instanceType=STR_ALWAYS,
    cpuOptions=pointer(confidentialCompute=STR_PTR),
    tags=_TAGS,
    iamInstanceProfile=pointer(**_REFERENCE.fields),
    userDataSecret=_LOCAL,
    credentialsSecret=_LOCAL,
    keyName=STR_PTR,
    deviceIndex=INT_ALWAYS,
    publicIp=BOOL_PTR,
    networkInterfaceType=STR,
    securityGroups=several(_REFERENCE),
    subnet=_REFERENCE,
    placement=struct(region=STR, availabilityZone=STR, tenancy=STR, host=_HOST),
    loadBalancers=several(struct(name=STR_ALWAYS, type=STR_ALWAYS)),
    blockDevices=several(struct(deviceName=STR_PTR, ebs=_EBS, noDevice=STR_PTR, virtualName=STR_PTR)),
    spotMarketOptions=pointer(maxPrice=STR_PTR),
    metadataServiceOptions=struct(authentication=STR),
    placementGroupName=STR,
    placementGroupPartition=INT_PTR,
    capacityReservationId=STR_ALWAYS,
    marketType=STR,
)

_ENCRYPTION: t.Final = pointer(id=STR)
_UEFI: t.Final = pointer(uefiSettings=struct(secureBoot=STR, virtualizedTrustedPlatformModule=STR))
_DISK_SECURITY: t.Final = struct(diskEncryptionSet=struct(id=STR), securityEncryptionType=STR)
_AZURE_DATA: t.Final = struct(storageAccountType=STR_ALWAYS, diskEncryptionSet=_ENCRYPTION)
_AZURE_DISK: t.Final = struct(
    nameSuffix=STR_ALWAYS,
    diskSizeGB=INT_ALWAYS,
    managedDisk=_AZURE_DATA,
    lun=INT_ALWAYS,
    cachingType=STR,
    deletionPolicy=STR_ALWAYS,
)

AZURE: t.Final = struct(
    **_HEAD,
    userDataSecret=_SECRET,
    credentialsSecret=_SECRET,
    location=STR,
    vmSize=STR,
    image=struct(
        publisher=STR_ALWAYS,
        offer=STR_ALWAYS,
        sku=STR_ALWAYS,
        version=STR_ALWAYS,
        resourceID=STR_ALWAYS,
        type=STR,
    ),
    osDisk=struct(
        osType=STR_ALWAYS,
        managedDisk=struct(
            storageAccountType=STR_ALWAYS, diskEncryptionSet=_ENCRYPTION, securityProfile=_DISK_SECURITY
        ),
        diskSizeGB=INT_ALWAYS,
        diskSettings=struct(ephemeralStorageLocation=STR),
        cachingType=STR,
    ),
    dataDisks=several(_AZURE_DISK),
    sshPublicKey=STR,
    publicIP=BOOL_ALWAYS,
    tags=ANY_MAP,
    securityGroup=STR,
    applicationSecurityGroups=several(STR),
    subnet=STR_ALWAYS,
    publicLoadBalancer=STR,
    internalLoadBalancer=STR,
    natRule=INT_PTR,
    managedIdentity=STR,
    vnet=STR,
    zone=STR,
    networkResourceGroup=STR,
    resourceGroup=STR,
    spotVMOptions=pointer(maxPrice=QUANTITY_PTR),
    securityProfile=pointer(
        encryptionAtHost=BOOL_PTR,
        settings=struct(securityType=STR_ALWAYS, confidentialVM=_UEFI, trustedLaunch=_UEFI),
    ),
    ultraSSDCapability=STR,
    acceleratedNetworking=BOOL,
    availabilitySet=STR,
    diagnostics=struct(
        boot=pointer(storageAccountType=STR_ALWAYS, customerManaged=pointer(storageAccountURI=STR_ALWAYS))
    ),
    capacityReservationGroupID=STR,
)

_KMS: t.Final = pointer(name=STR_ALWAYS, keyRing=STR_ALWAYS, projectID=STR, location=STR_ALWAYS)

GCP: t.Final = struct(
    **_HEAD,
    userDataSecret=_LOCAL,
    credentialsSecret=_LOCAL,
    canIPForward=BOOL_ALWAYS,
    deletionProtection=BOOL_ALWAYS,
    disks=several(
        struct(
            autoDelete=BOOL_ALWAYS,
            boot=BOOL_ALWAYS,
            sizeGb=INT_ALWAYS,
            type=STR_ALWAYS,
            image=STR_ALWAYS,
            labels=ANY_MAP_ALWAYS,
            encryptionKey=pointer(kmsKey=_KMS, kmsKeyServiceAccount=STR),
        )
    ),
    labels=ANY_MAP,
    gcpMetadata=several(struct(key=STR_ALWAYS, value=STR_PTR)),
    networkInterfaces=several(struct(publicIP=BOOL, network=STR, projectID=STR, subnetwork=STR)),
    serviceAccounts=several(struct(email=STR_ALWAYS, scopes=several(STR, always=True)), always=True),
    tags=several(STR),
    targetPools=several(STR),
    machineType=STR_ALWAYS,
    region=STR_ALWAYS,
    zone=STR_ALWAYS,
    projectID=STR,
    gpus=several(struct(count=INT_ALWAYS, type=STR_ALWAYS)),
    preemptible=BOOL,
    provisioningModel=STR_PTR,
    onHostMaintenance=STR,
    restartPolicy=STR,
    shieldedInstanceConfig=struct(
        secureBoot=STR, virtualizedTrustedPlatformModule=STR, integrityMonitoring=STR
    ),
    confidentialCompute=STR,
    resourceManagerTags=several(struct(parentID=STR_ALWAYS, key=STR_ALWAYS, value=STR_ALWAYS)),
)

_POOL: t.Final = struct(group=STR_ALWAYS, resource=STR_ALWAYS, name=STR_ALWAYS)
_DEVICE: t.Final = struct(
    networkName=STR,
    gateway=STR,
    ipAddrs=several(STR),
    nameservers=several(STR),
    addressesFromPools=several(_POOL),
)

VSPHERE: t.Final = struct(
    **_HEAD,
    userDataSecret=_LOCAL,
    credentialsSecret=_LOCAL,
    template=STR_ALWAYS,
    workspace=pointer(server=STR, datacenter=STR, folder=STR, datastore=STR, resourcePool=STR, vmGroup=STR),
    network=struct(devices=several(_DEVICE, always=True)),
    numCPUs=INT,
    numCoresPerSocket=INT,
    memoryMiB=INT,
    diskGiB=INT,
    tagIDs=several(STR),
    snapshot=STR_ALWAYS,
    cloneMode=STR,
    dataDisks=several(struct(name=STR_ALWAYS, sizeGiB=INT_ALWAYS, provisioningMode=STR)),
)

_IDENTIFIER: t.Final = struct(type=STR_ALWAYS, uuid=STR_PTR, name=STR_PTR)
_NUTANIX_DISK: t.Final = struct(
    diskSize=QUANTITY_ALWAYS,
    deviceProperties=pointer(deviceType=STR_ALWAYS, adapterType=STR_ALWAYS, deviceIndex=INT),
    storageConfig=pointer(diskMode=STR_ALWAYS, storageContainer=pointer(type=STR_ALWAYS, uuid=STR_PTR)),
    dataSource=pointer(**_IDENTIFIER.fields),
)

NUTANIX: t.Final = struct(
    **_HEAD,
    cluster=_IDENTIFIER,
    image=_IDENTIFIER,
    subnets=several(_IDENTIFIER, always=True),
    vcpusPerSocket=INT_ALWAYS,
    vcpuSockets=INT_ALWAYS,
    memorySize=QUANTITY_ALWAYS,
    systemDiskSize=QUANTITY_ALWAYS,
    bootType=STR_ALWAYS,
    project=_IDENTIFIER,
    categories=several(struct(key=STR_ALWAYS, value=STR_ALWAYS), always=True),
    gpus=several(struct(type=STR_ALWAYS, deviceID=INT_PTR, name=STR_PTR), always=True),
    dataDisks=several(_NUTANIX_DISK, always=True),
    userDataSecret=_LOCAL,
    credentialsSecret=pointer(True, name=STR),
    failureDomain=pointer(True, name=STR_ALWAYS),
)
