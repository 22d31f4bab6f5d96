# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page that a person reads first: the diagnosis, what the bundle lacks, and what was masked."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, name, number_of
from . import plan
from .bundle import INDEX, Bundle

_MOST: t.Final = 40
_NOTES: t.Final = 10
_MOST_DRIVERS: t.Final = 2
_DRIVER: t.Final = "nvidia-driver-ctr"
_REPORT: t.Final = "cd /tmp && nvidia-bug-report.sh >&2 && cat nvidia-bug-report.log.gz"


def lines(
    told: t.Sequence[str], bundle: Bundle, pods: t.Mapping[str, t.Sequence[KubeObject]], now: str
) -> t.Iterator[str]:
    """Yield the lines. told: of the diagnosis. pods: by place."""
    yield f"GPU bundle for support, made {now} by the module accelerators.openshift.gpu_must_gather."
    yield f"{number_of(len(bundle.files), 'file')}; {INDEX} lists them with what is missing."
    yield from ("", "DIAGNOSIS", *told[:_MOST])
    yield from ("", "NOT WHOLE", *_some(bundle.cut)) if bundle.cut else ()
    yield from ("", "NOT READ", *_some(bundle.unread)) if bundle.unread else ()
    yield from (
        ("", f"The cluster does not have: {', '.join(bundle.not_served)}.") if bundle.not_served else ()
    )
    yield from ("", "MASKED", *_MASKED, "", "NOT HERE", *_not_here(pods.get(plan.GPU, ())))
    yield "NVIDIA's support of the GPU operator: operator_feedback@nvidia.com"


_MASKED: t.Final = (
    "Secrets were not read. Tokens, passwords, keys and certificates are masked; serial numbers and UUIDs of",
    "GPUs too, unless the option serials was keep. Names, labels, images and IP addresses stay: look before",
    "you send it.",
)


def _some(notes: t.Sequence[str]) -> list[str]:
    more = [f"and {len(notes) - _NOTES} more in {INDEX}"] if len(notes) > _NOTES else []
    return [*notes[:_NOTES], *more]


def _runs_driver(pod: KubeObject) -> bool:
    containers = pod["spec"].get("containers") or ()
    return not plan.is_broken(pod) and any(container["name"] == _DRIVER for container in containers)


def _not_here(pods: t.Sequence[KubeObject]) -> t.Iterator[str]:
    """Yield what nothing but a command in a pod can tell, and that command."""
    drivers = [pod for pod in pods if _runs_driver(pod)]
    if not drivers:
        yield "nvidia-bug-report.sh of the driver: no driver pod that works is there to run it in."
    for pod in drivers[:_MOST_DRIVERS]:
        node = pod["spec"].get("nodeName")
        place = f"-n {pod['metadata']['namespace']} {name(pod)} -c {_DRIVER}"
        yield f"nvidia-bug-report.sh of node {node}, which has serial numbers. This command makes it:"
        yield f"  oc exec {place} -- sh -c '{_REPORT}' > nvidia-bug-report_{node}.log.gz"
    if len(drivers) > _MOST_DRIVERS:
        yield f"and so on for {number_of(len(drivers) - _MOST_DRIVERS, 'more node')}"
