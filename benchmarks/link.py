# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A slow network in front of an API server: a relay that holds bytes back.

It shows what it saves or costs to ask for compressed answers behind such a network:

    PYTHONPATH=.collections .venv/bin/python benchmarks/link.py KUBECONFIG      # a sandbox's

It stands in for a line of one round trip time and one rate each way. A real line also loses packets and
starts slowly, so that long answers take longer still.
"""

from __future__ import annotations

import contextlib
import json
import queue
import random
import socket
import statistics
import sys
import threading
import time
import typing as t
from pathlib import Path
from unittest import mock
from urllib.parse import urlsplit

import yaml

PIECE: t.Final = 1 << 16
TIMES: t.Final = 7
SPACE: t.Final = "link"
# Name, seconds there and back, bits a second.
LINES: t.Final = (
    ("loopback", 0.0, 0.0),
    ("1 Gbit/s, 1 ms", 0.001, 1e9),
    ("100 Mbit/s, 10 ms", 0.010, 1e8),
    ("20 Mbit/s, 40 ms", 0.040, 2e7),
)


class Link:
    """url: instead of the server's own. seconds: there and back. rate: bits a second."""

    def __init__(self, server: str, seconds: float, rate: float) -> None:
        address = urlsplit(server)
        self._to = (str(address.hostname), int(address.port or 443))
        self._delay, self._rate = seconds / 2, rate / 8
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _address = self._listener.accept()
                upstream = socket.create_connection(self._to)
                for source, target in ((client, upstream), (upstream, client)):
                    for one in (source, target):
                        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    pieces: queue.Queue[tuple[float, bytes]] = queue.Queue(maxsize=256)
                    threading.Thread(target=self._take, args=(source, pieces), daemon=True).start()
                    threading.Thread(target=self._give, args=(target, pieces), daemon=True).start()

    def _take(self, source: socket.socket, pieces: queue.Queue[tuple[float, bytes]]) -> None:
        free = 0.0
        with contextlib.suppress(OSError):
            while data := source.recv(PIECE):
                # The line is busy until the bytes before have left it.
                free = max(time.monotonic(), free) + len(data) / self._rate
                pieces.put((free + self._delay, data))
        pieces.put((0.0, b""))

    def _give(self, target: socket.socket, pieces: queue.Queue[tuple[float, bytes]]) -> None:
        with contextlib.suppress(OSError):
            while True:
                due, data = pieces.get()
                if not data:
                    target.shutdown(socket.SHUT_WR)
                    return
                time.sleep(max(0.0, due - time.monotonic()))
                target.sendall(data)


def main(kubeconfig: Path) -> None:
    from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import connect
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import Connection

    kind = kinds.known("ConfigMap")
    fill(connect({"kubeconfig": str(kubeconfig)}, "link"))
    config = yaml.safe_load(kubeconfig.read_text())
    server = config["clusters"][0]["cluster"]["server"]

    def seconds(compressed: bool, labels: str) -> float:
        with mock.patch.object(Connection, "is_near", not compressed):
            api = connect({"kubeconfig": config}, "link")
            # The connection is there by now, as it is for all but the first request of a task.
            api.get(kind, "n0", SPACE)
            started = time.perf_counter()
            api.list(kind, SPACE, labels=labels)
            return time.perf_counter() - started

    for name, delay, rate in LINES:
        link = Link(server, delay, rate) if rate else None
        config["clusters"][0]["cluster"]["server"] = link.url if link else server
        for labels, what in (("few=yes", "20 objects, 0.5 MB"), ("all=yes", "500 objects, 13 MB")):
            taken: dict[bool, list[float]] = {False: [], True: []}
            for _time in range(TIMES):
                for compressed in (False, True):
                    taken[compressed].append(seconds(compressed, labels))
            plain, small = (statistics.median(taken[compressed]) * 1000 for compressed in (False, True))
            print(
                f"{name:20} {what:20} plain {plain:7.0f} ms   gzip {small:7.0f} ms   {plain / small:5.2f}x",
                flush=True,
            )
        if link:
            link.close()


def fill(api: t.Any) -> None:
    """Create 500 objects of the size of a node that NFD has labelled.

    Half of each is random: it compresses no better than names and numbers do.
    """
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    chance = random.Random(1)  # noqa: S311 (the same objects every time)
    for number in range(500):
        facts = {
            f"feature.node.kubernetes.io/cpu-{item}": f"{chance.getrandbits(128):x}" for item in range(330)
        }
        labels = {"all": "yes", **({"few": "yes"} if number < 20 else {})}
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"n{number}", "namespace": SPACE, "labels": labels},
        }
        api.apply({**body, "data": {"facts": json.dumps(facts)}})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
