# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of credentials."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "CRED-CONTEXT",
        "{kubeconfig} has no {context}; {contexts}.",
        "Set `context` to one that `oc config get-contexts` lists.",
    ),
    Code(
        "CRED-EXEC",
        "The kubeconfig's exec plugin {plugin} gives no credentials: {why}.{also}",
        "Run the plugin by hand as the user that runs Ansible, and log in with it; `oc whoami` runs the "
        "same plugin and shows its error.",
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
        "The kubeconfig {path} does not exist.",
        "Set `kubeconfig`, or `K8S_AUTH_KUBECONFIG`, to an existing file.",
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
        "Credentials were found in two places, {one} and {other}; they are never combined, so that one "
        "cluster's token cannot reach another.",
        "Give the task one of them, such as `kubeconfig`, or `host` and its token, and unset the other.",
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
        "The token of the kubeconfig has expired, and {issuer} did not renew it: {why}.",
        "Log in again at the issuer, for example with `oc login`.",
    ),
    Code(
        "CRED-PACKAGE",
        "The Python package {package} cannot be imported by {python}: {problem}.",
        "Run `{python} -m pip install kubernetes openshift`.",
    ),
    Code(
        "CRED-UNAUTHORIZED",
        "The API server rejects the credentials (HTTP 401). The message says when a certificate or token has "
        "expired.",
        "Log in again with `oc login`, or renew the token in `api_key`.",
    ),
)
