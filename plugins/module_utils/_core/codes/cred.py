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
        "The credentials cannot be used: {problem}",
        "Check `kubeconfig`, `context`, `client_cert`, `client_key` and `ca_cert`.",
    ),
    Code(
        "CRED-HALF",
        "There is {place}, and no {other}.",
        "Set `{other}` as well, or neither.",
    ),
    Code(
        "CRED-KUBECONFIG",
        "The kubeconfig {path} does not exist.",
        "Set `kubeconfig`, or `K8S_AUTH_KUBECONFIG`, to an existing file.",
    ),
    Code(
        "CRED-LOGIN",
        "OpenShift's OAuth server did not accept the user {username}: {answer}",
        "Check `username` and `password`.",
    ),
    Code(
        "CRED-MIXED",
        "Credentials were found in two places, {one} and {other}; they are never combined, so that one "
        "cluster's token cannot reach another.",
        "Give the task one of them, such as `kubeconfig`, or `host` and its token, and unset the other.",
    ),
    Code(
        "CRED-NOBODY",
        "The API server refused a request without credentials, because {why}: {answer}",
        "Set `api_key`, or a kubeconfig whose context has a user (`oc login`).",
    ),
    Code(
        "CRED-NONE",
        "The task has no credentials: no option, no `K8S_AUTH_` variable, no kubeconfig ({path} does not "
        "exist), no service account of a pod ({problem}).",
        "Set `kubeconfig`, or `host` and `api_key`; or export `KUBECONFIG`. Launch a job of AWX with a "
        "credential, such as GPU cluster.",
    ),
    Code(
        "CRED-NOT-PASSED",
        "The API server did not get the credentials of this task: {answer}",
        "Set `api_key`: a proxy or load balancer that ends TLS drops client certificates.",
    ),
    Code(
        "CRED-NO-PASSWORD",
        "The user {username} cannot log in with a password: {answer}",
        "Check `host` (`oc whoami --show-server`); where an external issuer signs users in, use a "
        "kubeconfig or `api_key`.",
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
        "{server} does not accept the credentials{also}: {answer}",
        "Log in again (`oc login`), or renew the certificate or token (`api_key`).",
    ),
    Code(
        "CRED-VALUE",
        "The credentials cannot be used: {place} is {value}, {fault}.",
        "Set {place} to `{wanted}`.",
    ),
)
