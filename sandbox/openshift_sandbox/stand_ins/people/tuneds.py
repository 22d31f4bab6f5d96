# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a team that has a Tuned with a profile of the same name as another's (profile_invalid).

The real one would see that its own Tuned is invalid too.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.tuning import DEFAULT, NAMESPACE, TUNED_API
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

NAME: t.Final = "another-team"
TEXT: t.Final = "[main]\nsummary=The profile of another team\ninclude=openshift-node\n"


class ForeignTuneds(Reconciler):
    kinds = ("Tuned",)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for trouble in cluster.troubles("profile_invalid"):
            if cluster.find("Tuned", NAME, NAMESPACE) is None:
                profiles = [trouble["profile"]] if "profile" in trouble else taken(cluster)
                if profiles:
                    cluster.create(tuned(profiles, str(trouble.get("text", TEXT))))


def taken(cluster: Cluster) -> list[str]:
    """Return the names of all profiles that somebody defines, but for those of Tuned `default`."""
    return sorted(
        one["name"]
        for tuned in cluster.objects("Tuned", NAMESPACE)
        if tuned["metadata"]["name"] != DEFAULT
        for one in tuned["spec"].get("profile") or []
    )


def tuned(profiles: t.Sequence[str], text: str) -> Object:
    """Return a Tuned that recommends nothing."""
    return {
        "apiVersion": TUNED_API,
        "kind": "Tuned",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {"profile": [{"name": name, "data": text} for name in profiles]},
    }
