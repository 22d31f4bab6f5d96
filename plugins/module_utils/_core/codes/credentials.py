# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes about credentials of the API server, and of registries (pull secrets)."""

from __future__ import annotations

import typing as t

from .code import Code

CREDENTIALS: t.Final = (
    Code(
        "CRED-CONTEXT",
        "The kubeconfig does not have the given context, or names no current one.",
        "Set `context` to one that `oc config get-contexts` lists.",
    ),
    Code(
        "CRED-EXEC",
        "The kubeconfig's exec plugin fails, hangs, or prints no credentials.",
        "Run `oc whoami` as the user that runs Ansible; it runs the same plugin and shows its error.",
    ),
    Code(
        "CRED-INVALID",
        "A kubeconfig, a certificate or an option of the connection cannot be used, or one half of a pair "
        "is missing.",
        "Correct what the message names: `kubeconfig`, `host`, `username`, `password`, `client_cert`, "
        "`client_key` or `ca_cert`.",
    ),
    Code(
        "CRED-KUBECONFIG",
        "The kubeconfig file does not exist.",
        "Set `kubeconfig`, or the environment variable `K8S_AUTH_KUBECONFIG`, to an existing file.",
    ),
    Code(
        "CRED-LOGIN",
        "OpenShift's OAuth server rejects the user and password, does not exist, or has a certificate that "
        "is not trusted.",
        "Check `username`, `password` and `host`; add the ingress CA (`oc get configmap "
        "default-ingress-cert -n openshift-config-managed`) to the file in `ca_cert`.",
    ),
    Code(
        "CRED-MIXED",
        "Two sources hold credentials. The collection never combines them, so that no token reaches the "
        "wrong cluster.",
        "Keep one source: unset either `kubeconfig` or `host` and its token, as the message names them.",
    ),
    Code(
        "CRED-NONE",
        "The task has no credentials: no option, no `K8S_AUTH_` variable, no kubeconfig and no service "
        "account; or the kubeconfig's context names no user, and the API server asks for one.",
        "Set `kubeconfig`, or `host` and `api_key`, or export `KUBECONFIG`. Launch a job of AWX with a "
        "credential, such as GPU cluster.",
    ),
    Code(
        "CRED-OIDC",
        "The kubeconfig's token has expired, and its OIDC issuer did not renew it.",
        "Log in at the issuer again, for example with `oc login`.",
    ),
    Code(
        "CRED-PACKAGE",
        "The Python interpreter that the message names cannot import the package kubernetes or openshift.",
        "Run `pip install kubernetes openshift` for that interpreter.",
    ),
    Code(
        "CRED-UNAUTHORIZED",
        "The API server rejects the credentials (HTTP 401). The message says when a certificate or token has "
        "expired.",
        "Log in again with `oc login`, or renew the token in `api_key`.",
    ),
)
PULL: t.Final = (
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
