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
        "The API server answers with an error that has no code of its own, or another program answers "
        "at its address, for example a proxy.",
        "Check that `host` is what `oc whoami --show-server` prints; the message quotes the answer.",
    ),
    Code(
        "API-FORBIDDEN",
        "The identity lacks a permission (HTTP 403). The message names the identity, the verb and the "
        "resource, as the API server does.",
        "Grant the identity that verb on that resource; `oc auth can-i VERB RESOURCE -n NAMESPACE --as USER` "
        "checks it.",
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
        "An admission rule, for example a quota or an admission webhook, refused the object. The message is "
        "the rule's own text.",
        "Change what the message names; `oc describe quota -n NAMESPACE` shows the limits of a quota.",
    ),
    Code(
        "API-RIGHTS",
        "The identity lacks rights that the playbook needs; the message lists all. Nothing was changed.",
        "As an administrator, run the command in the remedy: it creates a ClusterRole and ends with "
        "`oc adm policy add-cluster-role-to-user ROLE USER`.",
    ),
    Code(
        "API-TLS",
        "The certificate of {host} cannot be trusted: {answer}",
        "Set `ca_cert` to the cluster's CA, or fix the kubeconfig.",
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
