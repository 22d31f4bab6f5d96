# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the GCP machine provider and Compute Engine say when they refuse an instance."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.clouds.cloud import INVALID, Refusal

# Errors of the provider.
RESTART: t.Final = (
    "failed to determine restart policy: preemptible/spot instances cannot be automatically restarted"
)
TOO_MANY: t.Final = (
    "More than one type of accelerator provided. Instances support only one accelerator type at a time."
)
PRE_ATTACHED: t.Final = (
    "A2 and A3 Machine types have pre-attached guest accelerators. Adding additional guest accelerators is "
    "not supported"
)
NO_ACCELERATORS: t.Final = (
    "MachineType {type} does not support accelerators. Only A2, A3 and N1 machine type families support "
    "guest accelerators."
)
NO_TYPE: t.Final = "MachineType {type} is not available in the zone {zone}."
NO_ACCELERATOR_TYPE: t.Final = (
    "AcceleratorType {accelerator} not available in the zone {zone} : googleapi: Error 404: The resource "
    "'{resource}' was not found, notFound"
)
OWN_QUOTA: t.Final = "Quota exceeded. Metric: {metric}. Usage: {usage}. Limit: {limit}."

# Errors of Compute Engine.
NO_SUCH_TYPE: t.Final = (
    "Invalid value for field 'resource.machineType': 'https://compute.googleapis.com/"
    "compute/v1/projects/{project}/zones/{zone}/machineTypes/{type}'."
    " Machine type with name '{type}' does not exist in zone '{zone}'."
)
LIVE_MIGRATION: t.Final = "Instances with guest accelerators do not support live migration."
QUOTA: t.Final = "Quota '{metric}' exceeded.  Limit: {limit} {scope}."

BUILT_IN_ACCELERATOR: t.Final = {
    "a2-highgpu": "nvidia-tesla-a100",
    "a2-megagpu": "nvidia-tesla-a100",
    "a2-ultragpu": "nvidia-a100-80gb",
    "a3-highgpu": "nvidia-h100-80gb",
    "a3-edgegpu": "nvidia-h100-80gb",
    "a3-megagpu": "nvidia-h100-mega-80gb",
}
_METRICS: t.Final = {
    "g2": "NVIDIA_L4_GPUS",
    "a3": "NVIDIA_H200_GPUS",
    "a4": "NVIDIA_B200_GPUS",
    "n1": "CPUS",
    "n2": "N2_CPUS",
}


def metric(machine_type: str) -> str:
    """Return the quota that Compute Engine names first for a machine type."""
    return _METRICS.get(machine_type.partition("-")[0], "GPUS_ALL_REGIONS")


def rejected(code: int, text: str, reason: str) -> Refusal:
    """Return the refusal of a wrong request (4xx) in the words of Google's client library.

    The Machine is Failed.
    """
    said = f"googleapi: Error {code}: {text}, {reason}"
    return Refusal(said, INVALID, f"error launching instance: {said}")
