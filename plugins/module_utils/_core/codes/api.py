# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of the API server."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "API-CONFLICT",
        "Another field manager owns the fields that the message names, or the object changed at the same "
        "moment (HTTP 409).",
        "Set `gpu_operator_adopt: take` (module option `adopt`; in the module manifests "
        "`force_conflicts: true`), or remove the fields from the task; if the object only changed, run "
        "again.",
    ),
    Code(
        "API-ERROR",
        "{request}: {answer}",
        "Correct what the message names; it is the API server's own text. `oc get clusteroperator "
        "kube-apiserver` says how the API server is.",
    ),
    Code(
        "API-FORBIDDEN",
        "{identity} may not {deed}: {answer}",
        "Grant {user} the {verbs} on {place}; `oc auth can-i {question}` checks it.",
    ),
    Code(
        "API-IMPERSONATE",
        "The identity may not act as the one that impersonate_user or the kubeconfig's user names: {answer}",
        "Grant {user} the verb impersonate on users and groups, or leave `impersonate_user` out.",
    ),
    Code(
        "API-INVALID",
        "{object} was rejected: {answer}",
        "Correct the field that the message names; `oc explain KIND.FIELD` describes it.",
    ),
    Code(
        "API-KIND-NOT-SERVED",
        "The cluster does not serve {kind}{also}.",
        "Install {provider} first; `oc api-resources` lists what the cluster serves.",
    ),
    Code(
        "API-NOT-FOUND",
        "Something that the request needs does not exist, for example a namespace.",
        "Create what the message names, for example with `oc create namespace NAME`.",
    ),
    Code(
        "API-PROXY",
        "The proxy {proxy} does not let us through to {host}: {problem}.",
        "Check `proxy` and `proxy_headers` (HTTPS_PROXY), or put the host into `no_proxy` (NO_PROXY).",
    ),
    Code(
        "API-REFUSED",
        "The request to {request} was refused: {answer}",
        "Change what the message names: {rule} refused the object. `oc describe quota -A` shows the limits "
        "of quotas.",
    ),
    Code(
        "API-RIGHTS",
        "{user} may not do all that {playbook}.yml does. Missing: {missing}. Nothing was changed.",
        "As an administrator, run the command in the remedy: it creates a ClusterRole and ends with `oc adm "
        "policy add-cluster-role-to-user ROLE USER`.",
    ),
    Code(
        "API-NOT-KUBERNETES",
        "{host} answered with {answer} instead of JSON of an API server: something else answers there.",
        "{also}Check `host`: it is the API server's address (`oc whoami --show-server`).",
    ),
    Code(
        "API-TLS",
        "The certificate of {host} cannot be trusted: {answer}",
        "Set `ca_cert` to the cluster's CA, or fix the kubeconfig.",
    ),
    Code(
        "API-TLS-INGRESS",
        "The certificate of {server} cannot be trusted: {answer}",
        "Add the CA of the ingress to the file `ca_cert` (`oc get configmap default-ingress-cert -n "
        "openshift-config-managed`).",
    ),
    Code(
        "API-UNKNOWN-FIELD",
        "{object}: {unknown_fields}{also}.",
        "Correct or remove the field; the server would have ignored it. `oc explain KIND --recursive` "
        "lists the fields that exist.",
    ),
    Code(
        "API-UNREACHABLE",
        "No useful answer from {host} for {seconds} s: {problem}.",
        "Check that the API server is up and reachable from here (`oc get --raw /readyz`), then run "
        "again; nothing is lost.",
    ),
    Code(
        "API-WEBHOOK",
        "The API server could not call the webhook {webhook} for {seconds} s: {problem}.",
        "See why the pods behind the webhook do not answer (`oc get pods {where}`), then run again.",
    ),
)
