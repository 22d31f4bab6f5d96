# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Log files of simulated pods.

Each pod has a file and a KWOK Logs object, so that `kubectl logs` and the pod log API answer.
"""

from __future__ import annotations

import typing as t
from datetime import UTC, datetime
from pathlib import Path

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

FOLDER: t.Final = "pod-logs"
API: t.Final = "kwok.x-k8s.io/v1alpha1"
SILENT: t.Final = "This simulated container writes no log."


def cri(lines: t.Iterable[str], moment: datetime | None = None) -> str:
    """Return lines in the format in which container runtimes keep logs: KWOK reads no other."""
    stamp = (moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
    return "".join(f"{stamp} stdout F {line}\n" for line in lines)


class PodLogs:
    """The log files of one stand-in.

    A file ends with its pod; the garbage collector deletes the Logs objects.
    """

    def __init__(self) -> None:
        self._written: dict[str, dict[str, tuple[str, ...]]] = {}
        self._files: dict[str, dict[str, Path]] = {}
        self._silent = False

    def write(
        self,
        cluster: Cluster,
        pod: Object,
        lines: t.Sequence[str],
        of_containers: t.Mapping[str, t.Sequence[str]] | None = None,
    ) -> None:
        """Write a pod's log, once per content. `of_containers` holds the lines of single containers."""
        uid, name = pod["metadata"]["uid"], f"{pod['metadata']['namespace']}_{pod['metadata']['name']}"
        texts = {"": tuple(lines)} | {
            container: tuple(texts) for container, texts in (of_containers or {}).items()
        }
        before = self._written.get(uid, {})
        if before == texts:
            return
        files = {
            one: self._file(cluster, name + (f"_{one}" if one else ""), text) for one, text in texts.items()
        }
        if before.keys() != texts.keys():
            cluster.client.apply(_logs(pod, files))
        self._files[uid], self._written[uid] = files, texts

    def forget(self, cluster: Cluster, pod: Object) -> None:
        """Remove the log of a pod."""
        if pod["metadata"]["uid"] in self._written:
            self.write(cluster, pod, (SILENT,))

    def silence(self, cluster: Cluster) -> None:
        """Give an empty log to pods without one."""
        if not self._silent:
            path = self._file(cluster, "silent", (SILENT,))
            cluster.client.apply(
                {
                    "apiVersion": API,
                    "kind": "ClusterLogs",
                    "metadata": {"name": "silent"},
                    "spec": {"logs": [{"logsFile": str(path)}]},
                }
            )
            self._silent = True

    def keep_only(self, uids: t.AbstractSet[str]) -> None:
        """Remove the logs of all pods but these."""
        for uid in set(self._files) - uids:
            for path in self._files.pop(uid).values():
                path.unlink(missing_ok=True)
            del self._written[uid]

    def _file(self, cluster: Cluster, name: str, lines: t.Sequence[str]) -> Path:
        path = cluster.directory / FOLDER / f"{name}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(cri(lines))
        return path


def _logs(pod: Object, files: t.Mapping[str, Path]) -> Object:
    name, namespace, uid = (pod["metadata"][field] for field in ("name", "namespace", "uid"))
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}
    logs = [
        {"logsFile": str(path), "previousLogsFile": str(path)} | ({"containers": [one]} if one else {})
        for one, path in files.items()
    ]
    spec = {"logs": logs}
    metadata = {"name": name, "namespace": namespace, "ownerReferences": [owner]}
    return {"apiVersion": API, "kind": "Logs", "metadata": metadata, "spec": spec}
