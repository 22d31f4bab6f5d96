# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of pull secrets."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "PULL-CONFIG",
        "{option}: the new pull secret cannot be used: {why}.",
        "Set `gpu_pull_secret_file` (module option `path`) to a file that `podman login --authfile FILE "
        "REGISTRY` wrote.",
    ),
    Code(
        "PULL-DROPS",
        "{secret} has a login for {registries}, and the new pull secret has none.",
        "Set `gpu_pull_secret_file` (module option `path`) to a file with a login for {registry}, or set "
        "`gpu_pull_secret_drop: true` (module option `drop`).",
    ),
    Code(
        "PULL-NONE",
        "No ClusterPolicy, NVIDIADriver, NicClusterPolicy, Module or ServiceAccount of the GPU stack names a "
        "pull secret, so its images are pulled with the pull secret of the whole cluster.",
        "Change that one with `oc set data secret/pull-secret -n openshift-config "
        "--from-file=.dockerconfigjson=FILE`, or set gpu_operator_spec: {driver: {imagePullSecrets: "
        "[NAME]}} and run `ansible-playbook playbooks/enable_gpus.yml -e @FILE`.",
    ),
    Code(
        "PULL-OWNER",
        "{secret} is managed by {owner}, which would undo the change.",
        "Change the pull secret in {owner}, or set `gpu_pull_secret_names` (module option `names`) to the"
        " Secrets that the file is meant for.",
    ),
    Code(
        "PULL-REFUSED",
        "{secret} was not changed: with the new pull secret the cluster may not pull {image}: {answer}.",
        "Set `gpu_pull_secret_file` (module option `path`) to a file with a valid login for {registry}.",
    ),
    Code(
        "PULL-REGISTRY",
        "{secret}: the new pull secret has no login for {registry}, and {image} comes from there. It has "
        "{logins}.",
        "Set `gpu_pull_secret_file` (module option `path`) to a file with a login for {registry}, or "
        "`gpu_pull_secret_names` (module option `names`) to the Secrets that the file is meant for.",
    ),
    Code(
        "PULL-TYPE",
        "{secret} {why}, so its content cannot be replaced.",
        "Run `oc delete secret {name} -n {namespace}`, then `ansible-playbook "
        "playbooks/rotate_pull_secret.yml -e gpu_pull_secret_file=FILE` again: it creates the Secret.",
    ),
    Code(
        "PULL-UNKNOWN",
        "names: {names}: no object of the GPU stack pulls images with this Secret.",
        "Set `gpu_pull_secret_names` (module option `names`) to some of {known}.",
    ),
)
