# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps for virtual machines: nodes are asked for and labelled, HyperConverged keeps what others wrote."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer, status
from unit.stack.builders import some_params
from unit.stack.test_virtual_machines import CONFIG, IMAGE, OPTED_OUT, PLATFORM, T4, WORKLOAD, pool

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import consent
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import (
    virtual_machine_steps,
    virtual_machines,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    steps as policy_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackPool

Object = dict[str, t.Any]
OTHER: t.Final = {"pciDeviceSelector": "10DE:20B0"}
NEVER: t.Final = {"type": "A10-12Q", "image": IMAGE, "license_secret": "l"}


def cluster(marks: dict[str, str] | None = None, offers: str = T4, spec: Object | None = None) -> FakeServer:
    server = FakeServer("Node", "Pod", "Machine", "HyperConverged", "ConfigMap")
    server.put(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n", "labels": {"gpu": "vm", **(marks or {})}},
            "status": {"allocatable": {offers: "2"}},
        }
    )
    server.put(
        {
            "apiVersion": "hco.kubevirt.io/v1",
            "kind": "HyperConverged",
            "metadata": {"name": "kubevirt-hyperconverged", "namespace": "openshift-cnv"},
            "spec": {"virtualization": spec or {}},
        }
    )
    return server


def add_pod(server: FakeServer, resource: str) -> None:
    limits = {"resources": {"limits": {resource: "1"}}}
    server.put(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "busy", "namespace": "team"},
            "spec": {"nodeName": "n", "containers": [{"name": "c", **limits}]},
            "status": {"phase": "Running"},
        }
    )


def run(server: FakeServer, *pools: StackPool, on_busy: str = "fail") -> list[Object]:
    api = api_on(server)
    work = virtual_machine_steps.begin(api, some_params(pools=list(pools), on_busy=on_busy))
    consent.ask(api, work.questions(), on_busy, "GPU-BUSY")
    virtual_machine_steps.label(api, work)
    return virtual_machine_steps.permit(api, work)


def spec_of(server: FakeServer) -> Object:
    found: Object = next(one for one in server.objects.values() if one["kind"] == "HyperConverged")
    return dict(found.get("spec") or {})


def mark_entries(server: FakeServer) -> None:
    """Record the entry as the API server does: by its key in the list."""
    owner = next(one for one in server.objects.values() if one["kind"] == "HyperConverged")
    fields = owner["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:virtualization"]
    fields["f:permittedHostDevices"]["f:pciHostDevices"] = {"k:" + '{"pciDeviceSelector":"10DE:1EB8"}': {}}


def entry(resource: str, **more: t.Any) -> Object:
    return {"pciHostDevices": [{"pciDeviceSelector": "10DE:1EB8", "resourceName": resource, **more}]}


def test_a_node_is_labelled_and_its_devices_are_permitted_once() -> None:
    server = cluster()
    wanted = {"device": "10DE:1EB8", "resource": T4, "provider": "operator"}
    assert run(server, pool()) == [wanted]
    permitted = {"permittedHostDevices": entry(T4, externalResourceProvider=True)}
    assert spec_of(server) == {"virtualization": permitted}
    assert len(server.writes()) == 2
    assert run(server, pool()) == [wanted]
    assert len(server.writes()) == 2, "a second run writes nothing"


@pytest.mark.parametrize("resource", ["nvidia.com/gpu", T4])
def test_pods_and_machines_of_a_node_that_changes_are_asked_for(resource: str) -> None:
    server = cluster({WORKLOAD: "vm-vgpu"})
    add_pod(server, resource)
    with pytest.raises(
        AcceleratorError, match="nodes of pool vm change to workload vm_passthrough"
    ) as caught:
        run(server, pool())
    assert (caught.value.code, server.writes()) == ("GPU-BUSY", [])
    run(server, pool(), on_busy="drain")
    add_pod(server, T4)
    run(server, pool())


@pytest.mark.parametrize("answer", ["", "VMI vm is not live-migratable"])
def test_a_virtual_machine_that_stays_is_named_before_a_label_changes(answer: str) -> None:
    server = cluster({WORKLOAD: "vm-vgpu"})
    add_pod(server, T4)
    pod = next(one for one in server.objects.values() if one["kind"] == "Pod")
    pod["metadata"]["labels"] = {"kubevirt.io": "virt-launcher"}
    owner = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "name": "vm", "uid": "1"}
    pod["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    asked = []

    def send(method: str, url: str, *more: t.Any, **named: t.Any) -> t.Any:
        if "/eviction" in url:
            asked.append(method)
            return status(429, "TooManyRequests", answer) if answer else Answer(201, {})
        return server.answer(method, url, *more, **named)

    server.request = send
    if not answer:
        run(server, pool(), on_busy="drain")
        assert asked == ["POST"]
        return
    with pytest.raises(NotReadyError, match="team/busy on n of VirtualMachineInstance vm") as caught:
        run(server, pool(), on_busy="drain")
    assert (caught.value.code, server.writes()) == ("GPU-VM-HELD", [])
    assert "virtctl stop vm -n team" in caught.value.remedy


def test_a_new_name_after_an_upgrade_is_written_and_told() -> None:
    server = cluster({WORKLOAD: "vm-passthrough"})
    run(server, pool())
    name = "nvidia.com/TU104GL_TESLA_T4_16GB"
    node = next(one for one in server.objects.values() if one["kind"] == "Node")
    node["status"]["allocatable"] = {name: "2"}
    mark_entries(server)
    api = api_on(server)
    work = virtual_machine_steps.begin(api, some_params(pools=[pool()]))
    virtual_machine_steps.permit(api, work)
    (said,) = [text for text in api.warnings if name in text]
    assert f"deviceName {T4} do not start" in said
    (permitted,) = spec_of(server)["virtualization"]["permittedHostDevices"]["pciHostDevices"]
    assert permitted["resourceName"] == name


@pytest.mark.parametrize(
    ("spec", "wanted", "code"),
    [
        (
            {"permittedHostDevices": entry("nvidia.com/T4", externalResourceProvider=True)},
            pool(),
            "GPU-VM-PERMIT",
        ),
        ({"permittedHostDevices": entry(T4)}, pool(), "GPU-VM-PROVIDER"),
        (
            {"permittedHostDevices": entry(T4, externalResourceProvider=True)},
            pool(**PLATFORM),
            "GPU-VM-PROVIDER",
        ),
        (
            {"mediatedDevicesConfiguration": {"mediatedDeviceTypes": ["nvidia-230"]}},
            pool("vm_vgpu"),
            "GPU-VM-PROVIDER",
        ),
        (
            {"permittedHostDevices": {"pciHostDevices": [{**OTHER, "resourceName": "nvidia.com/T4"}]}},
            pool(**PLATFORM),
            "GPU-VM-PERMIT",
        ),
    ],
)
def test_what_others_permit_in_another_way_is_refused_before_any_write(
    spec: Object, wanted: StackPool, code: str
) -> None:
    server = cluster(spec=spec)
    with pytest.raises(NotReadyError) as caught:
        run(server, wanted)
    assert (caught.value.code, server.writes()) == (code, [])


def test_a_type_that_the_device_manager_does_not_know_is_refused() -> None:
    server = cluster()
    metadata = {"name": "default-vgpu-devices-config", "namespace": "nvidia-gpu-operator"}
    text = "vgpu-configs: {A10-24Q: [{devices: all, vgpu-devices: {A10-24Q: 1}}]}"
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    server.put({**config, "data": {"config.yaml": text}})
    with pytest.raises(NotReadyError, match="no vGPUs of type A10-12Q, as pool vm wants them"):
        run(server, pool("vm_vgpu"))
    assert server.writes() == []


@pytest.mark.parametrize(
    ("group", "offers", "options", "code"),
    [
        ("", "nvidia.com/gpu", {"iommu": False}, "GPU-VM-VFIO"),
        ("", "nvidia.com/gpu", {}, ""),
        ("", T4, {"iommu": False}, ""),
        ("DMA-FQ", "nvidia.com/gpu", {"iommu": False}, ""),
        ("", T4, {"device": "10de:2236"}, "GPU-VM-DEVICES"),
        ("", T4, {"device": "10DE:1EB8"}, ""),
    ],
)
def test_a_node_that_cannot_have_the_devices_is_named_before_any_write(
    group: str, offers: str, options: Object, code: str
) -> None:
    server = cluster(offers=offers)
    features = known("NodeFeature")
    server.served[features.api_version, features.plural] = features
    seen = {"vendor": "10de", "device": "1eb8"} | ({"iommu_group/type": group} if group else {})
    elements = [{"attributes": {"vendor": "1013", "device": "00b8"}}, {"attributes": seen}]
    server.put(
        {
            "apiVersion": features.api_version,
            "kind": "NodeFeature",
            "metadata": {"name": "n", "namespace": "openshift-nfd"},
            "spec": {"features": {"instances": {"pci.device": {"elements": elements}}}},
        }
    )
    if not code:
        run(server, pool(**options))
        return
    with pytest.raises(NotReadyError, match="Node n of pool vm") as caught:
        run(server, pool(**options))
    assert (caught.value.code, server.writes()) == (code, [])
    remedies = {
        "GPU-VM-VFIO": "remove virtual_machines.iommu: false",
        "GPU-VM-DEVICES": "Set virtual_machines.device of the pool to 10de:1eb8.",
    }
    assert remedies[code] in caught.value.remedy


def test_a_type_of_another_gpu_is_refused_where_nodes_say_theirs() -> None:
    server = cluster({"nvidia.com/gpu.product": "Tesla-T4"})
    with pytest.raises(NotReadyError, match="has Tesla-T4, and A10-12Q is a vGPU of another GPU") as caught:
        run(server, pool("vm_vgpu"))
    assert (caught.value.code, server.writes()) == ("GPU-VGPU-OTHER", [])


@pytest.mark.parametrize(
    ("secret", "fault"),
    [
        (None, "does not exist"),
        ({"gridd.conf": "eA=="}, "lacks client_configuration_token.tok"),
        ({"gridd.conf": "eA==", "client_configuration_token.tok": "eA=="}, ""),
    ],
)
def test_a_licence_without_its_files_is_refused(secret: dict[str, str] | None, fault: str) -> None:
    server = cluster()
    server.served |= {("v1", "secrets"): known("Secret"), ("v1", "namespaces"): known("Namespace")}
    if secret is not None:
        metadata = {"name": "l", "namespace": "nvidia-gpu-operator"}
        server.put({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": secret})
    params = virtual_machines.completed(some_params(pools=[pool("vm_vgpu")]))
    if not fault:
        virtual_machine_steps.begin(api_on(server), params)
        return
    with pytest.raises(NotReadyError, match=f"Secret l in namespace nvidia-gpu-operator {fault}") as caught:
        virtual_machine_steps.begin(api_on(server), params)
    assert (caught.value.code, server.writes()) == ("GPU-VGPU-LICENSE", [])
    assert "license_secret of pool vm" in caught.value.message
    assert "--from-file=gridd.conf --from-file=client_configuration_token.tok" in caught.value.remedy
    assert ("oc create namespace" in caught.value.remedy) is (secret is None)


def test_the_same_entry_of_others_is_good_enough() -> None:
    server = cluster(spec={"permittedHostDevices": entry(T4, externalResourceProvider=True)})
    assert [one["resource"] for one in run(server, pool())] == [T4]


def test_two_names_on_the_way_of_an_upgrade_are_decided_at_its_end() -> None:
    server = cluster({WORKLOAD: "vm-passthrough"})
    node = next(one for one in server.objects.values() if one["kind"] == "Node")
    node["status"]["allocatable"] = {T4: "2", f"{T4}_16GB": "2"}
    api = api_on(server)
    work = virtual_machine_steps.begin(api, some_params(pools=[pool()]))
    with pytest.raises(NotReadyError, match="nobody can tell"):
        virtual_machine_steps.permit(api, work)
    node["status"]["allocatable"] = {T4: "0", f"{T4}_16GB": "2"}
    assert [one["resource"] for one in virtual_machine_steps.permit(api, work)] == [f"{T4}_16GB"]


def test_without_openshift_virtualization_nothing_is_written() -> None:
    server = FakeServer("Node", "Pod")
    with pytest.raises(NotReadyError, match="no HyperConverged"):
        run(server, pool())
    assert server.writes() == []


def test_pools_without_a_workload_send_no_request() -> None:
    server = cluster()
    assert run(server, pool("")) == []
    assert server.requests == []


def test_a_pool_of_containers_gives_back_what_it_had() -> None:
    server = cluster()
    run(server, pool())
    assert run(server, pool("container")) == []
    assert spec_of(server) == {}
    node = next(one for one in server.objects.values() if one["kind"] == "Node")
    assert node["metadata"]["labels"][WORKLOAD] == "container"


def test_the_entry_of_a_pool_that_left_goes_with_the_next_run() -> None:
    server = cluster()
    run(server, pool())
    mark_entries(server)
    server.objects = {key: obj for key, obj in server.objects.items() if obj["kind"] != "Node"}
    run(server, t.cast("StackPool", {**pool("container"), "node_selector": {"gpu": "other"}}))
    assert spec_of(server).get("virtualization", {}).get("permittedHostDevices") is None


def test_what_was_written_goes_with_the_pools() -> None:
    server = cluster()
    run(server, pool())
    virtual_machine_steps.remove(api_on(server), some_params(pools=[pool()], state="absent"))
    assert spec_of(server).get("virtualization", {}).get("permittedHostDevices") is None
    node = next(one for one in server.objects.values() if one["kind"] == "Node")
    assert node["metadata"]["labels"] == {"gpu": "vm"}


def test_a_pool_leaves_a_stack_that_stays_for_others() -> None:
    server = cluster()
    run(server, pool())
    other = next(one for one in server.objects.values() if one["kind"] == "Node")
    server.put({**other, "metadata": {"name": "other", "labels": {"gpu": "other"}}})
    add_pod(server, T4)
    params = some_params(pools=[pool()], state="absent", only_pools=True)
    written = server.writes()
    with pytest.raises(AcceleratorError, match="nodes of pool vm no longer give") as caught:
        virtual_machine_steps.give_back(api_on(server), params)
    assert (caught.value.code, server.writes()) == ("GPU-BUSY", written)
    server.objects = {key: one for key, one in server.objects.items() if one["kind"] != "Pod"}
    mark_entries(server)
    virtual_machine_steps.give_back(api_on(server), params)
    assert spec_of(server)["virtualization"]["permittedHostDevices"] == entry(
        T4, externalResourceProvider=True
    )
    node = next(one for one in server.objects.values() if one["metadata"]["name"] == "n")
    assert node["metadata"]["labels"] == {"gpu": "vm"}


def machine(resource: str) -> Object:
    devices = {"gpus": [{"name": "gpu", "deviceName": resource}]}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "trainer", "namespace": "people"},
        "spec": {"template": {"spec": {"domain": {"devices": devices}}}},
    }


@pytest.mark.parametrize(
    ("other", "who"),
    [
        ({}, []),
        ({"status": {"allocatable": {T4: "1"}}}, ["node other"]),
        ({"status": {"allocatable": {T4: "0"}}}, []),
        ({"labels": {WORKLOAD: "vm-passthrough"}}, ["node other"]),
        ({"labels": {WORKLOAD: "vm-vgpu"}, "status": {"allocatable": {"nvidia.com/A10-8Q": "2"}}}, []),
        ({"machine": T4}, ["VirtualMachine people/trainer"]),
        ({"machine": "nvidia.com/other"}, []),
    ],
)
def test_an_entry_goes_with_the_last_pool_that_needs_it(other: Object, who: list[str]) -> None:
    server = cluster()
    machines = virtual_machine_steps._MACHINE
    server.served[machines.api_version, machines.plural] = machines
    run(server, pool())
    mark_entries(server)
    server.put(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "other", "labels": other.get("labels", {})},
            "status": other.get("status", {}),
        }
    )
    if resource := other.get("machine"):
        server.put(machine(resource))
    live = next(one for one in server.objects.values() if one["kind"] == "HyperConverged")
    nodes = [one for one in server.objects.values() if one["metadata"]["name"] == "other"]
    found = virtual_machine_steps.needed(api_on(server), live, nodes, has_stack=True)
    assert list(found.values()) == [who]
    assert list(virtual_machine_steps.needed(api_on(server), live, nodes, has_stack=False).values()) == [[]]
    given = t.cast("StackPool", {"name": "vm", "node_selector": {"gpu": "vm"}})
    params = some_params(pools=[given], state="absent", only_pools=True)
    virtual_machine_steps.give_back(api_on(server), params)
    left = entry(T4, externalResourceProvider=True) if who else None
    assert spec_of(server).get("virtualization", {}).get("permittedHostDevices") == left


def test_without_the_right_to_list_virtual_machines_an_entry_stays() -> None:
    server = cluster()
    run(server, pool())
    mark_entries(server)

    def send(method: str, url: str, *more: t.Any, **named: t.Any) -> t.Any:
        if "virtualmachines" in url:
            return status(403, "Forbidden", "no")
        return server.answer(method, url, *more, **named)

    machines = virtual_machine_steps._MACHINE
    server.served[machines.api_version, machines.plural] = machines
    live = next(one for one in server.objects.values() if one["kind"] == "HyperConverged")
    server.request = send
    (users,) = virtual_machine_steps.needed(api_on(server), live, [], has_stack=True).values()
    assert users == ["virtual machines, which the identity may not list"]


@pytest.mark.parametrize("marks", [{WORKLOAD: "vm-vgpu", CONFIG: "A10-12Q"}, {OPTED_OUT: "false"}])
def test_nodes_that_stay_give_back_the_labels_of_this_collection_alone(marks: dict[str, str]) -> None:
    given = t.cast("StackPool", {"name": "vm", "node_selector": {"gpu": "vm"}})
    params = some_params(pools=[given], state="absent", only_pools=True)
    for manager, left in (("accelerators.openshift", {}), ("kubectl-label", marks)):
        server = cluster(marks)
        node = next(one for one in server.objects.values() if one["kind"] == "Node")
        owned: Object = {"f:metadata": {"f:labels": {f"f:{key}": {} for key in marks}}}
        node["metadata"]["managedFields"] = [{"manager": manager, "fieldsV1": owned}]
        virtual_machine_steps.give_back(api_on(server), params)
        node = next(one for one in server.objects.values() if one["kind"] == "Node")
        assert node["metadata"]["labels"] == {"gpu": "vm", **left}


def test_what_the_vgpu_device_manager_wrote_goes_once_it_has_left() -> None:
    state = "nvidia.com/vgpu.config.state"
    server = cluster({WORKLOAD: "vm-vgpu", CONFIG: "A10-12Q", state: "pending"})
    server.put(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "manager",
                "namespace": "nvidia-gpu-operator",
                "labels": {"app": "nvidia-vgpu-device-manager"},
            },
            "spec": {"nodeName": "n"},
        }
    )
    params = some_params(pools=[pool("vm_vgpu")], state="absent", only_pools=True)
    with pytest.raises(AcceleratorError, match="nvidia-gpu-operator/manager"):
        virtual_machine_steps.give_back(api_on(server, seconds=3), params)
    server.objects = {key: one for key, one in server.objects.items() if one["kind"] != "Pod"}
    virtual_machine_steps.give_back(api_on(server), params)
    node = next(one for one in server.objects.values() if one["kind"] == "Node")
    assert node["metadata"]["labels"] == {"gpu": "vm"}


def test_openshift_virtualization_alone_needs_no_gpu_operator() -> None:
    server = cluster(offers="nvidia.com/T4")
    machines = t.cast("StackPool", {**pool(**PLATFORM), "min_nodes": 1})
    params = some_params(pools=[machines])
    (node,) = [one for one in server.objects.values() if one["kind"] == "Node"]
    node["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    found = policy_steps.present(api_on(server), params)
    assert found["permits"] == [{"device": "10DE:1EB8", "resource": "nvidia.com/T4", "provider": "platform"}]
    (ready,) = found["pools"]
    assert (ready["ready"], ready["nodes_ready"], found["state"], found["stages"]) == (True, 1, "", [])
    (node,) = [one for one in server.objects.values() if one["kind"] == "Node"]
    assert node["metadata"]["labels"] == {"gpu": "vm", OPTED_OUT: "false"}
    written = server.writes()
    policy_steps.present(api_on(server), params)
    assert server.writes() == written
    lacking = some_params(pools=[t.cast("StackPool", {**machines, "min_nodes": 2})])
    with pytest.raises(AcceleratorError, match="1 of 2 nodes"):
        policy_steps.present(api_on(server, seconds=3), lacking)
    mark_entries(server)
    policy_steps.absent(api_on(server), some_params(pools=[machines], state="absent"))
    assert spec_of(server).get("virtualization", {}).get("permittedHostDevices") is None
    assert [one["kind"] for one in server.objects.values()] == ["Node", "HyperConverged"]
