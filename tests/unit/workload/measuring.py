"""A cluster in memory whose validation pods print figures, and the options that run such programs."""

from __future__ import annotations

import typing as t

from unit.fake_server import Answer
from unit.workload.builders import node, params
from unit.workload.test_steps import PODS, World

from ansible_collections.accelerators.openshift.plugins.module_utils._workload import steps

Pod = dict[str, t.Any]
RATE: t.Final = {
    "program": "own",
    "name": "rate",
    "image": "example.com/bench:1",
    "script": "bench",
    "figure": r"rate: ([0-9.]+)",
    "unit": "x/s",
    "expected": 50,
}


class Measuring(World):
    """Nodes with one GPU each, whose pods print what `says` has for their node, else `rate: 100`.

    says: name of the node -> lines of the log after the list of its GPUs. Each pod tells its node by its
    hostname, and a log is asked for by the name of its pod.
    """

    def __init__(self, *more: str, says: dict[str, str] | None = None) -> None:
        super().__init__()
        self.says, self.of_pod, self.seen = says or {}, dict[str, str](), list[Pod]()
        self._on_pod = self.note
        for name in more:
            self.server.put({"apiVersion": "v1", "kind": "Node", **node(name, gpu="1")})

    def note(self, pod: Pod, key: tuple[str, str, str, str]) -> None:
        self.seen.append(pod)
        self.of_pod[key[3]] = pod["spec"]["nodeSelector"]["kubernetes.io/hostname"].removeprefix("host-")
        self.succeed(pod, key)

    def text(self, node: str) -> str:
        """Return the log of a pod on the node."""
        return f"GPU 0: Tesla T4 (UUID: GPU-{node})\n{self.says.get(node, 'rate: 100')}\nTest PASSED\n"

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if f"{PODS}/" in url and "/log" in url:
            pod = url.partition(f"{PODS}/")[2].partition("/")[0]
            return Answer(200, self.text(self.of_pod[pod]))
        return super().answer(method, url, body, **more)

    def validate(self, *programs: t.Any, **given: t.Any) -> dict[str, t.Any]:
        """Run these programs on all nodes."""
        entry = {"name": "a", "node_selector": {"pool": "a"}, "programs": list(programs) or [RATE]}
        pools = [{**entry, **given.pop("pool", {})}]
        return steps.present(self.api(), params(node_selector=None, pools=pools, **given))

    def data(self, name: str) -> dict[str, str]:
        """Return the data of a ConfigMap, empty without it."""
        return next((one["data"] for key, one in self.server.objects.items() if key[3] == name), {})
