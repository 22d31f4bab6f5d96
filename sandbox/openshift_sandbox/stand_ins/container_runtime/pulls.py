# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for CRI-O on nodes that cannot reach a registry (registry_unreachable).

The real one finds the mirrors in registries.conf, which the machine-config operator writes. Here a webhook
reads the mirror sets when a pod is created, and marks a pod whose images have no mirror; a pod that exists
keeps its mark. Init containers of a marked pod still run.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.client import Client
from openshift_sandbox.programs.foreign_webhooks import IMAGE_PULLS, wanted
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.webhooks import MUTATING, Patch, Webhooks, rule, webhook

PATH: t.Final = "/image-pulls"
WEBHOOK: t.Final = webhook(IMAGE_PULLS, PATH, [rule("", ["pods"], ["CREATE"])])
UNPULLED: t.Final = "sandbox.openshift/no-route"
CONFIG: t.Final = "config.openshift.io/v1"
SETS: t.Final = (
    ("@", "imagedigestmirrorsets", "imageDigestMirrors"),
    (":", "imagetagmirrorsets", "imageTagMirrors"),
)

Mirrors = t.Mapping[str, t.Collection[str]]


def mirrors(client: Client) -> Mirrors:
    """Return the sources that have a mirror: for digests (`@`) and for tags (`:`)."""
    return {
        mark: {
            entry["source"]
            for one in client.list(CONFIG, plural)
            for entry in one["spec"].get(field) or []
            if entry.get("mirrors")
        }
        for mark, plural, field in SETS
    }


def unreachable(image: str, scenario: Scenario, known: Mirrors) -> str:
    """Return what a pull of the image says; an empty text when it works."""
    host, mark = image.partition("/")[0], "@" if "@" in image else ":"
    if not scenario.trouble("registry_unreachable", host=host):
        return ""
    if any(image.startswith((f"{one}/", f"{one}{mark}")) for one in known[mark]):
        return ""
    return (
        f'pinging container registry {host}: Get "https://{host}/v2/": dial tcp: lookup {host}: no such host'
    )


def review(request: Object, scenario: Scenario, client: Client) -> Patch | None:
    """Mark a new pod that cannot pull an image."""
    spec, annotations = request["object"]["spec"], request["object"]["metadata"].get("annotations") or {}
    known = mirrors(client)
    for container in (*(spec.get("initContainers") or []), *spec["containers"]):
        if text := unreachable(container.get("image", ""), scenario, known):
            value = annotations | {UNPULLED: text}
            return Patch([{"op": "add", "path": "/metadata/annotations", "value": value}])
    return None


class ImagePulls(Reconciler):
    kinds = (MUTATING,)

    def __init__(self) -> None:
        self._webhooks = Webhooks(MUTATING)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        is_cut_off = IMAGE_PULLS in wanted(cluster.scenario)
        self._webhooks.keep(cluster, IMAGE_PULLS, [WEBHOOK] if is_cut_off else [])
