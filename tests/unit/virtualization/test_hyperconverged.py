"""Entries of HyperConverged: those of this collection among those of others, in both versions."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._virtualization import hyperconverged
from ansible_collections.accelerators.openshift.plugins.module_utils._virtualization.hyperconverged import (
    Permit,
)

Object = dict[str, t.Any]
T4: t.Final = Permit("10DE:1EB8", "nvidia.com/TU104GL_TESLA_T4")
A10: t.Final = Permit("NVIDIA A10-12Q", "nvidia.com/NVIDIA_A10-12Q", is_mediated=True)
KEY: t.Final = 'k:{"pciDeviceSelector":"10DE:1EB8"}'


def live(version: str = "v1beta1", lists: Object | None = None, owned: Object | None = None) -> Object:
    spec: Object = {"permittedHostDevices": lists or {}}
    fields: Object = {"f:permittedHostDevices": owned or {}}
    if version == "v1":
        spec, fields = {"virtualization": spec}, {"f:virtualization": fields}
    entry = {"manager": "accelerators.openshift", "operation": "Apply", "fieldsV1": {"f:spec": fields}}
    metadata: Object = {"name": "kubevirt-hyperconverged", "namespace": "openshift-cnv"}
    if owned is not None:
        metadata["managedFields"] = [entry]
    return {"apiVersion": f"hco.kubevirt.io/{version}", "metadata": metadata, "spec": spec}


LISTS: t.Final[Object] = {
    "pciHostDevices": [
        {"pciDeviceSelector": "10DE:1EB8", "resourceName": T4.resource, "externalResourceProvider": True},
        {"pciDeviceSelector": "10DE:20B0", "resourceName": "nvidia.com/A100"},
        {"pciDeviceSelector": "8086:6F54", "resourceName": "intel.com/qat", "disabled": True},
    ],
    "mediatedDevices": [{"mdevNameSelector": "GRID T4-2Q", "resourceName": "nvidia.com/GRID_T4-2Q"}],
}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_ours_are_told_from_those_of_others(version: str) -> None:
    found = live(version, LISTS, {"f:pciHostDevices": {KEY: {".": {}}}})
    assert [one.resource for one in hyperconverged.permits(found)] == [
        T4.resource,
        "nvidia.com/A100",
        "nvidia.com/GRID_T4-2Q",
    ]
    assert hyperconverged.ours(found) == [T4]
    assert hyperconverged.is_touched(found)
    assert hyperconverged.ours(live(version, LISTS)) == []
    assert not hyperconverged.is_touched(live(version, LISTS))


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_who_wrote_an_entry_is_told_whatever_the_version_was(version: str) -> None:
    older = live("v1beta1", LISTS, {"f:pciHostDevices": {KEY: {".": {}}}})["metadata"]["managedFields"]
    found = live(version, LISTS, {})
    found["metadata"]["managedFields"] = older
    assert hyperconverged.ours(found) == [T4]
    found["metadata"]["managedFields"] = [*older, {**older[0], "manager": "Mozilla", "operation": "Update"}]
    assert hyperconverged.ours(found) == [], "somebody else wants it too"


def test_an_apply_has_our_entries_alone() -> None:
    found = hyperconverged.manifest(live(lists=LISTS), [A10, T4], has_manager=True)
    assert found["spec"] == {
        "permittedHostDevices": {
            "pciHostDevices": [LISTS["pciHostDevices"][0]],
            "mediatedDevices": [
                {
                    "mdevNameSelector": "NVIDIA A10-12Q",
                    "resourceName": "nvidia.com/NVIDIA_A10-12Q",
                    "externalResourceProvider": True,
                }
            ],
        },
        "featureGates": {"disableMDevConfiguration": True},
    }
    newer = hyperconverged.manifest(live("v1"), [A10], has_manager=True)["spec"]["virtualization"]
    assert newer["mediatedDevicesConfiguration"] == {"enabled": False}
    assert "spec" not in hyperconverged.manifest(live(lists=LISTS), [], has_manager=False)


def test_kubevirts_own_plugin_needs_no_external_provider() -> None:
    own = T4._replace(is_external=False)
    (entry,) = hyperconverged.manifest(live(), [own], has_manager=False)["spec"]["permittedHostDevices"][
        "pciHostDevices"
    ]
    assert entry == {"pciDeviceSelector": "10DE:1EB8", "resourceName": T4.resource}


def test_the_name_of_a_vgpu_is_that_of_its_type() -> None:
    assert hyperconverged.of_resource("nvidia.com/NVIDIA_A10-12Q") == A10


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_kubevirt_may_make_mediated_devices_itself(version: str) -> None:
    found = live(version)
    assert not hyperconverged.makes_mediated(found)
    spec = found["spec"]["virtualization"] if version == "v1" else found["spec"]
    spec["mediatedDevicesConfiguration"] = {"mediatedDeviceTypes": ["nvidia-230"]}
    assert hyperconverged.makes_mediated(found)
