# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool's machine sets on one platform: the tasks that create them, and the objects on the cluster."""

from __future__ import annotations

import contextlib
import typing as t
from dataclasses import dataclass
from pathlib import Path

from cluster import Cluster
from integration.playbook import Playbook, TaskResult
from integration.wire import Audit

from openshift_sandbox import faults
from openshift_sandbox.client import Client
from openshift_sandbox.sandbox import Sandbox

Data = dict[str, t.Any]
API: t.Final = "machine.openshift.io/v1beta1"
NAMESPACE: t.Final = "openshift-machine-api"
LABEL: t.Final = "accelerators.openshift/pool"


@dataclass(frozen=True)
class Pools:
    client: Client
    sandbox: Sandbox
    playbook: Playbook
    audit: Audit

    @classmethod
    def on(cls, cluster: Cluster, directory: Path) -> Pools:
        """Return the pools of a sandbox, whose playbooks run in this directory with this program."""
        sandbox = cluster.needs_sandbox()
        playbook = Playbook(directory, cluster.kubeconfig)
        return cls(cluster.client, sandbox, playbook, Audit(sandbox.audit_log, cluster.client))

    def ensure(self, pool: Data, **more: t.Any) -> TaskResult:
        """Apply the pool, assert that the task succeeds, and return its result."""
        done = self.attempt(pool, **more)
        assert not done.failed, done.result
        return done

    def attempt(self, pool: Data, **more: t.Any) -> TaskResult:
        """Run gpu_machineset for a pool; return the result, which may be a failure."""
        return self.playbook.module(
            "gpu_machineset", pool=pool, **{"capacity_timeout": 2, "wait_timeout": 90, **more}
        )

    def unchanged(self, pool: Data, **more: t.Any) -> bool:
        """Return whether a second run writes nothing, reports no change and warns of nothing."""
        again = self.ensure(pool, **more)
        return (self.audit.writes(again), again.changed, again.result.get("warnings", [])) == ([], False, [])

    def refused(self, pool: Data) -> tuple[str, str]:
        """Return code and path of the one problem of a pool; assert that the task sent only reads."""
        found = self.attempt(pool)
        assert found.failed, found.result
        assert [
            request.verb for request in self.audit.of(found) if request.verb not in ("get", "list", "watch")
        ] == []
        (problem,) = found["problems"]
        return problem["code"], problem["path"]

    def names(self) -> set[str]:
        """Return the names of the pools that have machine sets."""
        return {
            one["metadata"]["labels"][LABEL]
            for one in self.client.list(API, "machinesets", NAMESPACE, labels=LABEL)
        }

    def remove(self, pool: Data) -> None:
        """Remove a pool and assert that its machine sets and Machines are gone."""
        self.ensure(pool, state="absent")
        assert self.sets(pool) == {}
        assert self.machines(pool) == []

    def sets(self, pool: Data) -> dict[str, Data]:
        """Return the sets' providerSpec values by zone; the key is "" for a set without a zone."""
        return {
            zone_of(value): value
            for value in (
                one["spec"]["template"]["spec"]["providerSpec"]["value"]
                for one in self._of(pool, "machinesets")
            )
        }

    def machines(self, pool: Data) -> list[Data]:
        return self._of(pool, "machines")

    def nodes(self, pool: Data) -> list[Data]:
        return self.client.list("v1", "nodes", labels=f"{LABEL}={pool['name']}")

    def worker(self, zone: str) -> Data:
        """Return the providerSpec value of the installer's machine set in a zone."""
        workers = [
            one
            for one in self.client.list(API, "machinesets", NAMESPACE)
            if LABEL not in one["metadata"]["labels"]
        ]
        values = [one["spec"]["template"]["spec"]["providerSpec"]["value"] for one in workers]
        return next(value for value in values if zone_of(value) == zone)

    @contextlib.contextmanager
    def trouble(self, kind: str, **fields: t.Any) -> t.Iterator[None]:
        """Stage a trouble of the sandbox; clear it at the end."""
        faults.add(self.sandbox, kind, fields)
        try:
            yield
        finally:
            faults.clear(self.sandbox, kind, fields)

    def _of(self, pool: Data, plural: str) -> list[Data]:
        return self.client.list(API, plural, NAMESPACE, labels=f"{LABEL}={pool['name']}")


def zone_of(value: Data) -> str:
    """Return the zone in a providerSpec value, "" if it has none."""
    return str((value.get("placement") or {}).get("availabilityZone") or value.get("zone") or "")
