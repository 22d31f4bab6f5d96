# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of pull secrets."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "PULL-CONFIG",
        "The new pull secret is no .dockerconfigjson: it has no auths, or a registry in it has no login.",
        "Set `gpu_pull_secret_file` to a file that `podman login --authfile FILE REGISTRY` wrote.",
    ),
    Code(
        "PULL-DROPS",
        "The new pull secret lacks a registry that the old one has a login for.",
        "Set `gpu_pull_secret_drop: true`, or `gpu_pull_secret_file` to a file with a login for it.",
    ),
    Code(
        "PULL-JSON",
        "The new pull secret cannot be read, or is not JSON.",
        "Set `gpu_pull_secret_file` to a file that `podman login --authfile FILE REGISTRY` wrote.",
    ),
    Code(
        "PULL-NONE",
        "Nothing in the GPU stack names a pull secret, or none of the names that were asked for.",
        "Set `gpu_pull_secret_names` to Secrets that the message names. For images that are pulled with the "
        "pull secret of the whole cluster, run `oc set data secret/pull-secret -n openshift-config "
        "--from-file=.dockerconfigjson=FILE`.",
    ),
    Code(
        "PULL-OWNER",
        "Another tool or controller writes the Secret, and would undo the change.",
        "Change the pull secret there, or set `gpu_pull_secret_names` to the other Secrets.",
    ),
    Code(
        "PULL-REFUSED",
        "A registry refuses an image with the new pull secret, so no Secret was changed.",
        "Set `gpu_pull_secret_file` to a file with a valid login for the registry that the message names.",
    ),
    Code(
        "PULL-REGISTRY",
        "The new pull secret has no login for a registry that images come from.",
        "Set `gpu_pull_secret_file` to a file with a login for that registry, or `gpu_pull_secret_names` to "
        "the Secrets that the file is meant for.",
    ),
    Code(
        "PULL-TYPE",
        "The Secret is immutable, or has another type, so its content cannot be replaced.",
        "Run `oc delete secret NAME -n NAMESPACE`, then `ansible-playbook playbooks/rotate_pull_secret.yml` "
        "again, which creates it.",
    ),
)
