# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of images and their mirrors."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "MIRROR-ALLOWED",
        "nodes may not pull from {hosts}: registrySources.{key} of Image cluster decides by the name of the "
        "image, even if a mirror has it. {image} is needed.",
        "Run `oc edit image.config.openshift.io cluster`, and change spec.registrySources.{key} so that it "
        "allows {hosts}.",
    ),
    Code(
        "MIRROR-ARCH",
        "{image} has no manifest for {archs}, and {needed_by} needs it ({why}){also}.",
        "Run `oc-mirror --v2 -c FILE --workspace file://DIR docker://REGISTRY` without a filter of "
        "platforms, so that the mirror has {archs} too.",
    ),
    Code(
        "MIRROR-AWAY",
        "{asked} did not answer for {image} ({why}, for {needed_by}): {words}{also}.",
        "Run `podman manifest inspect {reference}` on a node of the cluster, which shows what is in the way.",
    ),
    Code(
        "MIRROR-CA",
        "ConfigMap {config_map} in namespace openshift-config {why}, and {field} names it. Registries and "
        "proxies with a certificate of their own are not trusted without it.",
        "Run `oc create configmap {config_map} -n openshift-config --from-file=ca-bundle.crt=FILE`.",
    ),
    Code(
        "MIRROR-DENIED",
        "{asked} refused {image} ({why}, for {needed_by}): {said}{also}.",
        "Run `oc set data secret/pull-secret -n openshift-config --from-file=.dockerconfigjson=FILE` with a "
        "file that has a good login for {host}.",
    ),
    Code(
        "MIRROR-FILE",
        "{option}: {path} {why}{also}.",
        "Run `ansible-playbook playbooks/mirror.yml -e @FILE -e gpu_mirror_file=NEW`, and mirror with the "
        "file that it writes.",
    ),
    Code(
        "MIRROR-MISSING",
        "{image} is missing ({why}, for {needed_by}): {asked} answered {said}{also}.",
        "Run `oc-mirror --v2 -c FILE --workspace file://DIR docker://{mirror|registry}` with this in FILE: "
        "{line}.",
    ),
    Code(
        "MIRROR-OS-TAG",
        "{csv} takes the driver image {image}, which is in no registry that the cluster asks: this release "
        "of the GPU operator leaves the minor version of RHEL out of the tag ({words}).",
        "Run `oc-mirror --v2 -c FILE --workspace file://DIR docker://REGISTRY` with {image} under "
        "mirror.additionalImages of FILE, before the upgrade.",
    ),
    Code(
        "MIRROR-PROXY",
        "the proxy of the cluster also gets requests for {lacking}, because noProxy lacks them.",
        "Run `oc edit proxy cluster`, and add {add} to spec.noProxy. Every node reboots then, and its pods "
        "end.",
    ),
    Code(
        "MIRROR-TAG",
        "{image} has a tag, and {others} serves digests only: nodes find no mirror for it ({why}, for "
        "{needed_by}){also}.",
        "Set `gpu_pools[].driver.version` to a digest (sha256:…). Or apply image_tag_mirror_set of the "
        "result: every node of every MachineConfigPool is drained then, and its pods end.",
    ),
    Code(
        "MIRROR-UNCHECKED",
        "it is not known whether {image} is there{also}: {words}.",
        "Run `oc-mirror --v2 -c FILE --workspace file://DIR docker://REGISTRY --dry-run`, which lists what "
        "is missing.",
    ),
)
