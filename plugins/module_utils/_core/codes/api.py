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
        "The API server rejected the object.",
        "Correct the field that the message names; `oc explain KIND.FIELD` describes it.",
    ),
    Code(
        "API-KIND-NOT-SERVED",
        "The cluster does not serve the kind, because its CRD does not exist.",
        "Install the operator that the message names; `oc api-resources` lists what the cluster serves.",
    ),
    Code(
        "API-LIBRARY",
        "The Python interpreter that runs the module cannot import PyYAML.",
        "Run `pip install PyYAML` for that interpreter.",
    ),
    Code(
        "API-NOT-FOUND",
        "Something that the request needs does not exist, for example a namespace.",
        "Create what the message names, for example with `oc create namespace NAME`.",
    ),
    Code(
        "API-PROXY",
        "The proxy refuses the connection to the API server.",
        "Correct `proxy` and `proxy_headers`, or add the host to `no_proxy`.",
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
        "The API server's certificate is not trusted.",
        "Set `ca_cert` to the file with the cluster's CA.",
    ),
    Code(
        "API-UNKNOWN-FIELD",
        "The object has a field that its kind does not know. Nothing was written, unless the message says "
        "that the rest was stored.",
        "Correct or remove the field; `oc explain KIND --recursive` lists the fields that exist.",
    ),
    Code(
        "API-UNREACHABLE",
        "The API server gave no useful answer before the time of the task was over; retries did not help.",
        "Check the API server with `oc get --raw /readyz`, then run again; nothing is lost.",
    ),
    Code(
        "API-WEBHOOK",
        "The API server cannot call a webhook that has to see the object; retries did not help. The message "
        "names the webhook and the service behind it.",
        "Repair the pods behind the service, which `oc get pods -n NAMESPACE` lists, then run again.",
    ),
)
