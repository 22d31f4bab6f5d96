# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of credentials."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
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
