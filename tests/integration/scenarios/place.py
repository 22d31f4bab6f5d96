# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that others shaped, and whole playbooks that run on it."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

import yaml
from cluster import Cluster
from integration.playbook import ROOT, Run
from integration.troubles.demo import QUICK, Demo
from integration.wire import Audit

from openshift_sandbox.client import Client

Data = dict[str, t.Any]
# What a remedy says in backticks, or what it says to set.
_SETTING: t.Final = re.compile(r"[Ss]et (\w+): (\S+) \(module option \w+\)")


@dataclass(frozen=True)
class Place:
    """The cluster of a test file."""

    cluster: Cluster
    demo: Demo
    audit: Audit

    @property
    def client(self) -> Client:
        return self.cluster.client

    def run(self, name: str, *arguments: str, **variables: t.Any) -> Run:
        """Run a playbook with short timeouts; `file` is a file below examples/ with pools."""
        file = variables.pop("file", None)
        given = [f"-e @{ROOT / 'examples' / file}"] if file else []
        return self.demo.playbook(name, *given, *arguments, **{**QUICK, **variables})

    def done(self, name: str, *arguments: str, **variables: t.Any) -> Run:
        """Run a playbook that must succeed."""
        run = self.run(name, *arguments, **variables)
        assert run.rc == 0, run.output[-4000:]
        return run

    def writes(self, run: Run) -> list[str]:
        return self.audit.writes(*run.tasks)


def existing(**gpus: int) -> list[Data]:
    """Return pools of nodes that are there before the run. gpus: the number on each node, by pool."""
    label = "accelerators.openshift/pool"
    return [
        {"name": name, "existing": {"node_selector": {label: name}, "expected": {"nvidia.com/gpu": number}}}
        for name, number in gpus.items()
    ]


def mirrored(image: str) -> str:
    """Return a file for oc-mirror with this image alone."""
    head = {"kind": "ImageSetConfiguration", "apiVersion": "mirror.openshift.io/v2alpha1"}
    return yaml.safe_dump({**head, "mirror": {"additionalImages": [{"name": image}]}})


def setting(remedy: str) -> Data:
    """Return the variable that a remedy says to set, with its value."""
    found = _SETTING.search(remedy)
    assert found, remedy
    return {found[1]: found[2]}


def said(run: Run, task: str) -> list[str]:
    """Return the lines that a task of the playbook shows, [] if it was skipped."""
    found = next(one for one in run.tasks if one.name.endswith(task))
    return [] if found.skipped else list(found["msg"])


def warnings(run: Run) -> list[str]:
    """Return the warnings of all tasks of a run."""
    results = [one for task in run.tasks for one in (task.result, *task.result.get("results", ()))]
    return [text for item in results for text in item.get("warnings") or []]
