# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Values of the chart nvidia/gpu-operator that make the same stack as the options of special_resource do on OpenShift; text only, nothing is run."""

from __future__ import annotations

import copy
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    CONTROL_PLANE,
)

try:
    import yaml
except ImportError:  # Ansible itself always has it; the import test of ansible-test has not
    yaml = None  # type: ignore[assignment]

Data = dict[str, t.Any]

PACKAGE: t.Final = "gpu-operator-certified"
CHART: t.Final = "v26.7.0"
COMMAND: t.Final = f"helm upgrade --install gpu-operator nvidia/gpu-operator --version {CHART} -n nvidia-gpu-operator --create-namespace -f values.yaml"
# The chart's dcgm and nodeStatusExporter are off, and the policy of the operator's bundle has them on.
_BUNDLE: t.Final[Data] = {"dcgm": {"enabled": True}, "nodeStatusExporter": {"enabled": True}}
_OPENSHIFT_ONLY: t.Final = ("use_ocp_driver_toolkit", "defaultRuntime", "initContainer")
# The chart's own list for that worker, which another one replaces, begins with it.
_CONTROL_PLANE: t.Final = {
    "key": CONTROL_PLANE,
    "operator": "Equal",
    "value": "",
    "effect": "NoSchedule",
}
# Components of the ClusterPolicy that the chart has no values for.
_NOT_IN_CHART: t.Final = ("psp",)


def values(spec: t.Mapping[str, t.Any]) -> Data:
    """spec: the ClusterPolicy that was asked for. The chart's keys are the policy's, but for those of the driver."""
    asked = copy.deepcopy(
        {key: value for key, value in spec.items() if key not in _NOT_IN_CHART and value not in ({}, None)}
    )
    found: Data = {**copy.deepcopy(_BUNDLE), **asked}
    for key, preset in _BUNDLE.items():
        found[key] = {**preset, **(asked.get(key) or {})}
    operator = {
        key: value for key, value in (found.pop("operator", None) or {}).items() if key not in _OPENSHIFT_ONLY
    }
    if operator:
        found["operator"] = operator
    driver = found.get("driver") or {}
    if "useNvidiaDriverCRD" in driver:
        driver["nvidiaDriverCRD"] = {"enabled": driver.pop("useNvidiaDriverCRD")}
    if "podDeletion" in (driver.get("upgradePolicy") or {}):
        driver["upgradePolicy"]["gpuPodDeletion"] = driver["upgradePolicy"].pop("podDeletion")
    if "cdi" in found:
        found["cdi"] = {key: value for key, value in found["cdi"].items() if key != "default"}
    tolerations = (found.get("daemonsets") or {}).get("tolerations")
    if tolerations:
        # The chart brings its own node feature discovery, whose worker has to reach the tainted nodes as well.
        found["node-feature-discovery"] = {
            "worker": {"tolerations": [_CONTROL_PLANE, *copy.deepcopy(tolerations)]}
        }
    return found


def text(spec: t.Mapping[str, t.Any]) -> str:
    """values.yaml, complete; the command that takes it stands in the first line."""
    return f"# {COMMAND}\n" + str(
        yaml.safe_dump(values(spec), sort_keys=True, default_flow_style=False, width=120)
    )
