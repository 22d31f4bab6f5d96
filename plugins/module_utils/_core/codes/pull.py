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
        "{secret} has a login for {registries}, and the new pull secret has none.",
        "Set `gpu_pull_secret_file` (module option `path`) to a file with a login for {registry}, or set "
        "`gpu_pull_secret_drop: true` (module option `drop`).",
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
        "playbooks/rotate_pull_secret.yml` again: it creates the Secret.",
    ),
)
