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
        "Run `oc patch image.config.openshift.io cluster --type=merge -p '{patch}'`, which allows {hosts}. "
        "A change of allowedRegistries drains no node. One of blockedRegistries drains every node of every "
        "MachineConfigPool, and its pods end.",
    ),
    Code(
        "MIRROR-ARCH",
        "{image} has no manifest for {archs}, and {needed_by} needs it ({why}){also}.",
        "Run `oc-mirror --v2 -c FILE --workspace file://DIR docker://{mirror}` with this in FILE, without a "
        "filter of platforms, so that the mirror has {archs} too: {line}.",
    ),
    Code(
        "MIRROR-AWAY",
        "{reference} does not say whether it has {image} ({why}, for {needed_by}): {words}{also}.",
        "Run `podman manifest inspect {reference}` on a node of the cluster, which shows what is in the way.",
    ),
    Code(
        "MIRROR-CA",
        "ConfigMap {config_map} in namespace openshift-config {why}, and {field} names it. Registries and "
        "proxies with a certificate of their own are not trusted without it.",
        "Run `oc {command} -n openshift-config --from-file={key}=FILE`.",
    ),
    Code(
        "MIRROR-DENIED",
        "{reference} refused {image} ({why}, for {needed_by}): {said}{also}.",
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
        "Run `oc-mirror --v2 -c FILE --workspace file://DIR docker://{mirror}` with this in FILE: {line}.",
    ),
    Code(
        "MIRROR-OS-TAG",
        "{user} takes the driver image {image}, which is in no registry that the cluster asks ({words}). The "
        "end of the tag depends on the releases of OpenShift and of the GPU operator: {other} is another "
        "image.",
        "Run `oc-mirror --v2 -c FILE --workspace file://DIR docker://{mirror}` with this in FILE, before the "
        "upgrade: mirror.additionalImages: - name: {image}.",
    ),
    Code(
        "MIRROR-PROXY",
        "the proxy of the cluster also gets requests for {lacking}, because noProxy lacks them.",
        "Run `oc patch proxy cluster --type=merge -p '{patch}'`. Every node reboots then, and its pods end.",
    ),
    Code(
        "MIRROR-TAG",
        "{image} has a tag, and {others} serves digests only: nodes find no mirror for it ({why}, for "
        "{needed_by}){also}.",
        "Run `echo '{tag_set}' | oc apply -f -`: every node of every MachineConfigPool is drained then, and "
        "its pods end. A driver whose version is a digest (sha256:…) needs no such set.",
    ),
    Code(
        "MIRROR-UNCHECKED",
        "it is not known whether {image} is there{also}: {words}.",
        "Run `oc-mirror --v2 -c FILE --workspace file://DIR docker://{mirror} --dry-run`, which lists what "
        "is missing.",
    ),
)
