# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks of ours and of the peers, made from the same objects and run in the same surroundings."""

from __future__ import annotations

import collections
import os
import sys
import typing as t
from dataclasses import replace
from pathlib import Path

import measure
import yaml
from bench_cluster import BenchCluster
from measure import Sample

Data = dict[str, t.Any]
Tasks = list[Data]

HERE: t.Final = Path(__file__).resolve().parent
CHECKOUT: t.Final = HERE.parent
EMPTY: t.Final = "empty playbook"
OURS: t.Final = "enable_gpus.yml, nothing to do"
BIN: t.Final = Path(sys.executable).parent
KUBECTL: t.Final = CHECKOUT / ".build/bin/control-plane/kubectl"


def ours(*objects: Data) -> Data:
    return {"accelerators.openshift.manifests": {"objects": list(objects)}}


def peer(obj: Data) -> Data:
    return {"kubernetes.core.k8s": {"definition": obj}}


def peer_list(objects: list[Data]) -> Data:
    return {"kubernetes.core.k8s": {"definition": objects}}


class Surroundings:
    """One folder for playbooks and logs, and one environment for every contender.

    small: a trial of the harness, whose results are not kept.
    """

    def __init__(self, directory: Path, cluster: BenchCluster, small: bool = False) -> None:
        self.directory, self.cluster, self.small = directory, cluster, small
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "ansible.cfg").touch()
        # This Python: nobody has to look for one.
        host = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        (directory / "inventory.yml").write_text(yaml.safe_dump({"all": {"hosts": {"localhost": host}}}))
        self.environment = {
            "ANSIBLE_ACTION_PLUGINS": str(HERE / "plugins/action"),
            "ANSIBLE_CALLBACK_PLUGINS": str(HERE / "plugins/callback"),
            "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".collections"),
            "ANSIBLE_CONFIG": str(directory / "ansible.cfg"),
            "ANSIBLE_HOME": str(directory / "ansible-home"),
            "ANSIBLE_LIBRARY": str(HERE / "plugins/modules"),
            "HOME": str(directory),
            "KUBECACHEDIR": str(directory / "kubectl-cache"),
            "LANG": "C.UTF-8",
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "K8S_AUTH_KUBECONFIG": str(cluster.kubeconfig),
            "KUBECONFIG": str(cluster.kubeconfig),
        }

    def write(self, name: str, tasks: Tasks, **play: t.Any) -> Path:
        path = self.directory / f"{name}.yml"
        path.write_text(
            yaml.dump(
                [{"hosts": "all", "gather_facts": False, "tasks": tasks, **play}],
                Dumper=_Plain,
                sort_keys=False,
            )
        )
        return path

    def play(self, path: Path, *arguments: str, **environment: str) -> Sample:
        argv: list[str | Path] = [
            BIN / "ansible-playbook",
            "-i",
            self.directory / "inventory.yml",
            path,
            *arguments,
        ]
        return self._counted(argv, self.environment | environment)

    def kubectl(self, *arguments: str | Path) -> Sample:
        return self._counted([KUBECTL, *arguments], self.environment)

    def _counted(self, argv: t.Sequence[str | Path], environment: t.Mapping[str, str]) -> Sample:
        mark = self.cluster.mark()
        sample = measure.run(argv, environment, self.directory / "output.log")
        sent = self.cluster.requests(mark)
        return replace(sample, requests=len(sent), writes=sum(one.writes for one in sent))


class Reruns(t.NamedTuple):
    """Runs of a playbook that has nothing to do, each beside an empty playbook, and what one of them asks."""

    empty: list[Sample]
    ours: list[Sample]
    asked: str


def reruns(where: Surroundings, cluster: BenchCluster, rounds: int, *arguments: str) -> Reruns:
    """Run enable_gpus.yml again, on a cluster that needs no change."""
    playbook, empty = CHECKOUT / "playbooks/enable_gpus.yml", where.write("empty", [])
    contenders: dict[str, measure.Contender] = {
        EMPTY: lambda _turn: where.play(empty),
        OURS: lambda _turn: where.play(playbook, *arguments),
    }
    samples = measure.interleave(contenders, rounds)
    mark = cluster.mark()
    where.play(playbook, *arguments)
    verbs = collections.Counter(f"{one.verb} {one.resource}" for one in cluster.requests(mark))
    asked = ", ".join(f"{count} x {what}" for what, count in verbs.most_common())
    return Reruns(samples[EMPTY], samples[OURS], asked)


class _Plain(yaml.SafeDumper):
    """Writes an object out wherever it is used; an alias would be read only once."""

    def ignore_aliases(self, data: t.Any) -> bool:
        return True
