# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the webhook that converts HyperConverged between v1beta1 and v1.

The real one moves every field; here only those of our CRD exist. Compared with api/v1beta1/conversion.go of
1.18: the lists stay as they are, the old name `mediatedDevicesTypes` becomes the new one, and the gate
`disableMDevConfiguration` of v1beta1 is `mediatedDevicesConfiguration.enabled: false` in v1.
"""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]

GROUP: t.Final = "hco.kubevirt.io"
# Fields of spec in v1beta1 that v1 has in spec.virtualization under the same name.
MOVED: t.Final = ("evictionStrategy", "liveMigrationConfig", "permittedHostDevices")
MDEV: t.Final = "mediatedDevicesConfiguration"
DISABLED: t.Final = "disableMDevConfiguration"
# Gates of v1beta1 that are off unless v1 lists them: the converter always writes them.
GATES: t.Final = ("deployKubeSecondaryDNS", "downwardMetrics")
OLD, NEW = "mediatedDevicesTypes", "mediatedDeviceTypes"


def respond(request: Object) -> Object:
    """Return the response of a ConversionReview."""
    wanted = request["desiredAPIVersion"]
    return {
        "uid": request["uid"],
        "convertedObjects": [converted(one, wanted) for one in request["objects"]],
        "result": {"status": "Success"},
    }


def converted(obj: Object, api_version: str) -> Object:
    """Return a HyperConverged in another version."""
    if obj["apiVersion"] == api_version:
        return obj
    change = _to_v1 if api_version.endswith("/v1") else _to_v1beta1
    return obj | {"apiVersion": api_version} | ({"spec": change(obj["spec"])} if "spec" in obj else {})


def _to_v1(spec: Object) -> Object:
    gates = dict(spec.get("featureGates") or {})
    disabled = gates.pop(DISABLED, None)
    inner: Object = {key: spec[key] for key in MOVED if key in spec}
    devices = _renamed(spec[MDEV]) if MDEV in spec else {}
    if MDEV in spec and "nodeMediatedDeviceTypes" in devices:
        devices["nodeMediatedDeviceTypes"] = list(map(_renamed, devices["nodeMediatedDeviceTypes"]))
    if disabled is not None:
        devices["enabled"] = not disabled
    if devices:
        inner[MDEV] = devices
    named = [{"name": name, "state": "Enabled"} for name, value in gates.items() if value]
    return ({"virtualization": inner} if inner else {}) | ({"featureGates": named} if named else {})


def _to_v1beta1(spec: Object) -> Object:
    inner = spec.get("virtualization") or {}
    found = {key: inner[key] for key in MOVED if key in inner}
    devices = dict(inner.get(MDEV) or {})
    enabled = devices.pop("enabled", None)
    gates = dict.fromkeys(GATES, False)
    gates |= {one["name"]: one.get("state", "Enabled") == "Enabled" for one in spec.get("featureGates") or []}
    if enabled is not None:
        gates[DISABLED] = not enabled
    if devices:
        found[MDEV] = devices
    return found | {"featureGates": gates}


def _renamed(part: Object) -> Object:
    """Return a part of the configuration with the new name of its list."""
    types = part.get(NEW) or part.get(OLD)
    rest = {key: value for key, value in part.items() if key not in (OLD, NEW)}
    return rest | ({NEW: types} if types else {})
