# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a webhook of an older release that takes no dry runs (webhook_without_dry_run).

The API server refuses every dry run that the webhook would see, in its own words. Since Kubernetes 1.22 no
API creates such a webhook: the real ones were stored before, and updates kept them. So this one goes into
etcd directly. It allows everything else.
"""

from __future__ import annotations

import base64
import json
import typing as t

import urllib3

from openshift_sandbox.client import ApiError
from openshift_sandbox.programs.foreign_webhooks import WITHOUT_DRY_RUN
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.seed.names import identity
from openshift_sandbox.seed.pools import INSTALLED
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.webhooks import KIND, configuration, rule, webhook

PATH: t.Final = "/pod-labels"
NAME: t.Final = "pod-labels.example.com"
KEY: t.Final = f"/registry/validatingwebhookconfigurations/{WITHOUT_DRY_RUN}"
RESOURCES: t.Final = ["pods"]


def stored(cluster: Cluster, trouble: Object) -> Object:
    """Return the configuration as an older API server stored it."""
    rules = [rule(str(trouble.get("group", "")), trouble.get("resources", RESOURCES), ["CREATE", "UPDATE"])]
    made = webhook(NAME, PATH, rules) | {
        "sideEffects": "Unknown",
        "matchPolicy": "Exact",
        "namespaceSelector": {},
        "objectSelector": {},
    }
    found = configuration(cluster, WITHOUT_DRY_RUN, [made])
    metadata = {"uid": identity(NAME), "generation": 1, "creationTimestamp": INSTALLED}
    return found | {"metadata": found["metadata"] | metadata}


def put(sandbox: Sandbox, key: str, obj: Object) -> None:
    """Write an object into etcd, past the API server. Raises ApiError."""
    body = {
        "key": base64.b64encode(key.encode()).decode(),
        "value": base64.b64encode(json.dumps(obj).encode()).decode(),
    }
    url = f"http://127.0.0.1:{sandbox.port('etcd')}/v3/kv/put"
    answer = urllib3.request("POST", url, json=body, retries=False, timeout=5.0)
    if answer.status != 200:
        raise ApiError(answer.status, f"etcd did not store {key}: {answer.data.decode(errors='replace')}")


class OldWebhooks(Reconciler):
    kinds = (KIND,)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        trouble = cluster.trouble("webhook_without_dry_run")
        live = cluster.find(KIND, WITHOUT_DRY_RUN)
        if trouble is not None and live is None:
            put(Sandbox(cluster.directory), KEY, stored(cluster, trouble))
        elif trouble is None and live is not None:
            cluster.delete(KIND, WITHOUT_DRY_RUN)
