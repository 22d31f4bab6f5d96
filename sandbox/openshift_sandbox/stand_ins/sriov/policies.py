# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the SR-IOV operator: which policy is for which interface, and what a node must change.

They follow v1.6.0 of the operator (api/v1/helper.go, the plugins `generic` and `mellanox`).
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware.ports import Port, function, mac

Object = dict[str, t.Any]

# How many virtual functions the firmware of a new adapter allows.
FIRMWARE_VFS: t.Final = 8
VFIO: t.Final = "vfio-pci"
# What the webhook accepts for adapters of NVIDIA.
MOST_VFS: t.Final = 128


def labels_of(node: Object) -> dict[str, str]:
    """Return the labels of a node."""
    return node["metadata"].get("labels") or {}


def configures(config: Object, node: Object) -> bool:
    """Return whether the config daemon runs on a node."""
    wanted = config["spec"].get("configDaemonNodeSelector") or {
        "node-role.kubernetes.io/worker": "",
        "kubernetes.io/os": "linux",
    }
    return bool(wanted.items() <= labels_of(node).items())


def selects(policy: Object, node: Object) -> bool:
    """Return whether the node selector of a policy matches."""
    return bool((policy["spec"].get("nodeSelector") or {}).items() <= labels_of(node).items())


def by_priority(policies: t.Iterable[Object]) -> list[Object]:
    """Return policies as they are applied: 99 first and 0, which wins, last."""
    return sorted(policies, key=lambda one: (-int(one["spec"].get("priority", 99)), one["metadata"]["name"]))


def pf_range(text: str) -> tuple[str, int, int]:
    """Return name and range of virtual functions of a pfName; -1 and -1 without a range."""
    name, _hash, numbers = text.partition("#")
    first, _dash, last = numbers.partition("-")
    return (name, int(first), int(last)) if numbers else (name, -1, -1)


def fits(selector: Object, interface: Object) -> bool:
    """Return whether an interface is one that a nicSelector means."""
    names = [pf_range(one)[0] for one in selector.get("pfNames") or []]
    return (
        selector.get("vendor") in (None, "", interface["vendor"])
        and selector.get("deviceID") in (None, "", interface["deviceID"])
        and (not selector.get("rootDevices") or interface["pciAddress"] in selector["rootDevices"])
        and (not names or interface["name"] in names)
        and not selector.get("netFilter")
    )


def discovered(port: Port) -> Object:
    """Return an interface of a node's state as the daemon finds it on a new host."""
    return {
        "name": port.name,
        "mac": port.mac,
        "driver": "mlx5_core",
        "pciAddress": port.pci,
        "vendor": port.nic.pci_vendor,
        "deviceID": port.nic.pci_device,
        "mtu": 1500 if port.nic.link == "ETH" else 2044,
        "linkSpeed": f"{port.nic.speed * 1000} Mb/s",
        "linkType": port.nic.link,
        "linkAdminState": "up",
        "eSwitchMode": "legacy",
        "totalvfs": FIRMWARE_VFS,
    }


def desired(policies: t.Iterable[Object], found: t.Sequence[Object]) -> list[Object]:
    """Return spec.interfaces of a node's state; a later policy with the same priority is merged."""
    made: dict[str, Object] = {}
    before = 100
    for policy in by_priority(policies):
        spec = policy["spec"]
        priority = int(spec.get("priority", 99))
        for interface in found:
            if not spec.get("numVfs") or not fits(spec["nicSelector"], interface):
                continue
            result = _interface(policy, interface)
            known = made.get(interface["pciAddress"])
            made[interface["pciAddress"]] = _merged(known, result, priority == before) if known else result
        before = priority
    return list(made.values())


def _interface(policy: Object, interface: Object) -> Object:
    spec, name = policy["spec"], policy["metadata"]["name"]
    ranges = [pf_range(one) for one in spec["nicSelector"].get("pfNames") or []]
    first, last = next(
        ((low, high) for pf, low, high in ranges if pf == interface["name"] and low >= 0),
        (0, spec["numVfs"] - 1),
    )
    group = {
        "resourceName": spec["resourceName"],
        "deviceType": spec.get("deviceType", "netdevice"),
        "vfRange": f"{first}-{last}",
        "policyName": name,
    }
    group |= {key: spec[key] for key in ("mtu", "isRdma") if spec.get(key)}
    more = {
        key: spec[key] for key in ("mtu", "linkType", "eSwitchMode", "externallyManaged") if spec.get(key)
    }
    whole = {"pciAddress": interface["pciAddress"], "name": interface["name"], "numVfs": spec["numVfs"]}
    return whole | more | {"vfGroups": [group]}


def _merged(known: Object, result: Object, is_equal: bool) -> Object:
    """Return the newer one with the groups of the older one that it leaves free."""
    [mine] = result["vfGroups"]
    kept = [
        group
        for group in known["vfGroups"]
        if group["resourceName"] != mine["resourceName"] and not overlaps(group["vfRange"], mine["vfRange"])
    ]
    merged = result | {"vfGroups": [mine, *kept]}
    if is_equal or kept:
        merged["numVfs"] = max(known["numVfs"], result["numVfs"])
        if mtu := max(known.get("mtu", 0), result.get("mtu", 0)):
            merged["mtu"] = mtu
    return merged


def numbers(text: str) -> range:
    """Return the virtual functions of a range such as 0-3."""
    first, _dash, last = text.partition("-")
    return range(int(first), int(last) + 1)


def overlaps(one: str, other: str) -> bool:
    """Return whether two ranges share a virtual function."""
    return bool(set(numbers(one)) & set(numbers(other)))


def reboots(spec: Object, status: Object, has_iommu: bool) -> bool:
    """Return whether the node has to start again: for its firmware or its kernel arguments."""
    found = {one["pciAddress"]: one for one in status.get("interfaces") or []}
    for wanted in spec.get("interfaces") or []:
        interface = found.get(wanted["pciAddress"])
        if interface is None or wanted.get("externallyManaged"):
            continue
        link = str(wanted.get("linkType", "")).upper()
        if interface.get("totalvfs", 0) != wanted["numVfs"] or link not in ("", interface["linkType"]):
            return True
        if not has_iommu and any(group["deviceType"] == VFIO for group in wanted["vfGroups"]):
            return True
    mode = (spec.get("system") or {}).get("rdmaMode")
    return bool(mode) and mode != (status.get("system") or {}).get("rdmaMode")


def drains(spec: Object, status: Object) -> bool:
    """Return whether virtual functions that exist change or go."""
    wanted = {one["pciAddress"]: one for one in spec.get("interfaces") or []}
    return any(
        interface.get("numVfs", 0) > 0 and differs(wanted.get(interface["pciAddress"]), interface)
        for interface in status.get("interfaces") or []
    )


def differs(wanted: Object | None, interface: Object) -> bool:
    """Return whether an interface is not as it should be."""
    if wanted is None:
        return bool(interface.get("numVfs", 0) > 0)
    if wanted["numVfs"] != interface.get("numVfs", 0) or wanted.get("mtu", 0) not in (0, interface["mtu"]):
        return True
    drivers = {vf["vfID"]: vf.get("driver") for vf in interface.get("Vfs") or []}
    return any(
        (drivers.get(number) == VFIO) != (group["deviceType"] == VFIO)
        for group in wanted["vfGroups"]
        for number in numbers(group["vfRange"])
    )


def applied(wanted: Object | None, interface: Object) -> Object:
    """Return an interface after the daemon has configured it; without a wish it loses its functions."""
    kept = {key: value for key, value in interface.items() if key not in ("numVfs", "Vfs")}
    if wanted is None:
        return kept
    mtu = wanted.get("mtu") or interface["mtu"]
    functions = [_function(wanted, interface, number, mtu) for number in range(wanted["numVfs"])]
    return kept | {"mtu": mtu, "numVfs": wanted["numVfs"], "Vfs": functions}


def restarted(wanted: Object, interface: Object) -> Object:
    """Return an interface after its node has started with the firmware that a policy needs."""
    link = str(wanted.get("linkType", "")).upper() or interface["linkType"]
    return interface | {"totalvfs": wanted["numVfs"], "linkType": link}


def _function(wanted: Object, interface: Object, number: int, mtu: int) -> Object:
    groups: list[Object] = wanted["vfGroups"]
    group: Object = next((one for one in groups if number in numbers(one["vfRange"])), {})
    is_vfio = group.get("deviceType") == VFIO
    found: Object = {
        "vfID": number,
        "driver": VFIO if is_vfio else "mlx5_core",
        "pciAddress": function(interface["pciAddress"], number),
        "vendor": interface["vendor"],
        "deviceID": "101c" if interface["deviceID"] == "101b" else "101e",
    }
    if not is_vfio:
        name = f"{interface['name'].removesuffix('np0')}v{number}"
        found |= {"name": name, "mac": mac(interface["mac"], name), "mtu": mtu}
    if interface["linkType"] == "IB":
        found["guid"] = f"a088:c203:0000:{number + 1:04x}"
    return found


def resources(interfaces: t.Iterable[Object]) -> dict[str, int]:
    """Return how many functions the device plugin offers of each resource."""
    counts: dict[str, int] = {}
    for interface in interfaces:
        for group in interface["vfGroups"]:
            name = group["resourceName"]
            counts[name] = counts.get(name, 0) + len(numbers(group["vfRange"]))
    return counts
