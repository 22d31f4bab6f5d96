# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server in memory with a MIG manager on each node, which acts as soon as the label changes."""

from __future__ import annotations

import copy
import itertools
import typing as t

from unit.fake_server import Answer
from unit.sharing.builders import NEW, SPACE, Server, manager, node, policy

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import mig_config

CONFIG: t.Final = "nvidia.com/mig.config"
STATE: t.Final = "nvidia.com/mig.config.state"
MODE: t.Final = "At least one mode change pending"


class MigServer(Server):
    """The manager knows what the file had when its pod started, and fails for some nodes.

    fails: node -> line of the log. stuck: nodes whose manager does not answer. empty: nodes whose device
    plugin does not come back after a failure. second: in which all happens, if it is not one after another.
    """

    def __init__(self, *objects: KubeObject) -> None:
        self.fails: dict[str, str] = {}
        self.stuck: set[str] = set()
        self.empty: set[str] = set()
        self.second = ""
        self._read: dict[str, str] = {}
        self._times = itertools.count()
        super().__init__(*objects)

    def _now(self) -> str:
        """Return a time that is later than all before, but for `second`."""
        return self.second or f"2026-11-24T08:{next(self._times):02}:00Z"

    def _answer(self, method: str, path: list[str], query: dict[str, str], body: t.Any) -> Answer:
        if path[-1] == "log":
            on = path[-2].removeprefix("manager-")
            return Answer(200, f"starting\n{self.fails.get(on, '')}\n")
        if path[-1] == "eviction":
            if "dryRun" not in query:
                del self.objects[("v1", "pods", path[-4], path[-2])]
            return Answer(201, {})
        answer = super()._answer(method, path, query, body)
        if method == "DELETE" and path[-1].startswith("manager-") and "dryRun" not in query:
            self.put(running(path[-1].removeprefix("manager-"), self._now()))
        return answer

    def _store(self, kind: t.Any, obj: KubeObject) -> KubeObject:
        if kind.kind == "ConfigMap":
            for entry in obj["metadata"].get("managedFields") or ():
                entry.setdefault("time", self._now())
        key = (kind.api_version, kind.plural, "", obj["metadata"]["name"])
        before = copy.deepcopy(self.objects.get(key))
        stored = super()._store(kind, obj)
        if kind.kind == "Pod" and obj["metadata"]["name"].startswith("manager-"):
            self._read[obj["spec"]["nodeName"]] = self.data("gpu-mig").get("config.yaml", "")
        if kind.kind == "Node" and before is not None:
            self._partition(before, stored)
        return stored

    def _partition(self, before: KubeObject, live: KubeObject) -> None:
        marks, name = live["metadata"]["labels"], live["metadata"]["name"]
        value = marks.get(CONFIG, "")
        if not value or value == before["metadata"]["labels"].get(CONFIG) or name in self.stuck:
            return
        text = self._read.get(name, "")
        known = {*mig_config.ours(text), *mig_config.theirs(text)}
        if value not in known or (name in self.fails and value not in ("all-disabled", self.old)):
            marks[STATE] = "failed"
            if name in self.empty:
                live["status"]["allocatable"] = {}
            return
        marks[STATE] = "success"
        if name in self.empty:
            return
        entries = mig_config.ours(text).get(value, [{}])
        parts = sum((entries[0].get("mig-devices") or {"": 1}).values())
        live["status"]["allocatable"] = {"nvidia.com/gpu": str(parts)}

    old = ""

    def mark(self, name: str, key: str = CONFIG) -> str | None:
        """Return a label of a node."""
        found: str | None = (self.named("Node", name) or {})["metadata"]["labels"].get(key)
        return found

    def is_cordoned(self, name: str) -> bool:
        """Return True if the node takes no new pods."""
        return bool(((self.named("Node", name) or {}).get("spec") or {}).get("unschedulable"))

    def notes(self, name: str) -> dict[str, str]:
        """Return the annotations of a node."""
        return dict((self.named("Node", name) or {})["metadata"].get("annotations") or {})


_UIDS: t.Final = itertools.count()


def running(on: str, since: str = NEW) -> KubeObject:
    """Return a MIG manager that is Ready."""
    found = manager(on, since=since)
    found["metadata"]["uid"] = f"manager-{next(_UIDS)}"
    found["status"] = {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"}
    found["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "m", "controller": True}]
    return found


def at_work(name: str, pool: str = "inference") -> KubeObject:
    """Return a Ready node that offers a whole GPU."""
    found = node(name, pool)
    found["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    return found


def named(strategy: str = "single") -> KubeObject:
    """Return a ClusterPolicy that names the ConfigMap."""
    found = policy()
    found["spec"] = {"migManager": {"config": {"name": "gpu-mig"}}, "mig": {"strategy": strategy}}
    return found


__all__ = ("MODE", "SPACE", "STATE", "MigServer", "at_work", "named", "running")
