# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program of a validation is: its image, its script, the parser of its log, and where it can run."""

from __future__ import annotations

import re
import typing as t
import zlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Settings:
    """What a pool or a task says about one program.

    image: replaces the program's own. level: of dcgm, 1 to 4. types: of matmul, such as fp16. nodes: how many
    nodes run the program together. seconds: how long it measures, 0 for its default. script, figure, unit,
    better, name: of a user's own program; figure is a regular expression with one group, or a JSON path that
    begins with `$.`. expected: name of a figure -> least (or greatest) good value. tolerance: share, 0.1 is
    10 %. variant: of resnet50. model: of vllm. network: that carries the data. gpu_memory: of rdma, whether
    NICs have to reach it. lock_memory: whether pods get capability IPC_LOCK, which restricted-v2 refuses.
    """

    program: str
    image: str = ""
    level: int = 2
    types: tuple[str, ...] = ()
    nodes: int = 1
    seconds: int = 0
    script: str = ""
    figure: str = ""
    unit: str = ""
    better: t.Literal["higher", "lower"] = "higher"
    expected: t.Mapping[str, float] = field(default_factory=dict)
    tolerance: float = 0.1
    variant: str = ""
    model: str = ""
    name: str = ""
    network: str = ""
    gpu_memory: bool = True
    lock_memory: bool = False

    @property
    def label(self) -> str:
        """Return what a validation with these settings proves, in one word without spaces and commas."""
        more = [*self.types]
        more += [str(self.level)] if self.program == "dcgm" else []
        more += [str(self.nodes)] if self.nodes > 1 else []
        more += [
            part for part in (self.variant, self.model.replace("/", "-"), self.name, self.network) if part
        ]
        if self.script:
            more.append(f"{zlib.crc32(f'{self.image} {self.script} {self.figure}'.encode()):08x}")
        return ":".join([self.program, *(re.sub(r"[\s,:]+", "-", part) for part in more)])

    @classmethod
    def of(cls, entry: t.Mapping[str, t.Any]) -> t.Self:
        """Return the settings of an entry as `_pools.programs.read_programs` returns it."""
        return cls(**{**entry, "types": tuple(entry.get("types") or ())})


class GpuNode(t.NamedTuple):
    """What a script and its image depend on.

    compute: compute capability of the GPUs, such as (9, 0), None if no label says it. devices: number that
    the pod gets. mig: whether they are partitions. arch: of the processor, such as amd64. rank, nodes,
    master: of a pod that works with those on other nodes: its number, how many they are, and the name in the
    cluster's DNS of the pod with number 0. tolerations: of marks of earlier validations on the node.
    operator_namespace: of the GPU operator. rdma: number of RDMA devices that the pod asks for alone, 0 if it
    shares them. clique: the part of an NVLink domain to which the node belongs, empty without one.
    """

    product: str = ""
    compute: tuple[int, int] | None = None
    devices: int = 1
    mig: bool = False
    arch: str = "amd64"
    rank: int = 0
    nodes: int = 1
    master: str = ""
    tolerations: tuple[dict[str, t.Any], ...] = ()
    operator_namespace: str = "nvidia-gpu-operator"
    rdma: int = 0
    clique: str = ""


class Figure(t.NamedTuple):
    """A number that a program measured. unit: such as TFLOPS, GB/s (10^9 bytes), img/s, tok/s, C.

    device: UUID of a GPU, `0-1` for a pair of GPUs by their numbers in the pod, empty for the whole node.
    least: the least good value as the program itself knows it, 0 if it does not.
    """

    name: str
    value: float
    unit: str
    device: str = ""
    better: t.Literal["higher", "lower"] = "higher"
    least: float = 0.0


class Finding(t.NamedTuple):
    """What a program, or a reading beside it, says about a GPU.

    test: its name. status: a fail fails the node, a warn explains. action: what the vendor asks for. number:
    the vendor's number of the error, 0 without one. code: of a fail, or of a figure of this name that is too
    low for this reason.
    """

    test: str
    status: t.Literal["fail", "warn", "skip"]
    text: str
    device: str = ""
    action: t.Literal["", "reset", "reboot", "replace"] = ""
    number: int = 0
    code: str = ""


@dataclass(frozen=True)
class Result:
    """What the log of a program's pod says.

    passed: the program ran to its end, found no fault, and measured what it is there to measure. uuids: the
    devices that the pod saw. not_applicable: why the program does not fit these devices, empty if it does.
    extra: more facts for the result of the module.
    """

    passed: bool
    uuids: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    findings: tuple[Finding, ...] = ()
    not_applicable: str = ""
    extra: t.Mapping[str, t.Any] = field(default_factory=dict)

    def as_result(self) -> dict[str, t.Any]:
        """Return it as the module returns it."""
        return {
            "passed": self.passed,
            "uuids": list(self.uuids),
            "figures": [figure._asdict() for figure in self.figures],
            "findings": [finding._asdict() for finding in self.findings],
            "not_applicable": self.not_applicable,
            **self.extra,
        }


@dataclass(frozen=True)
class Program:
    """One program.

    spread: a pod for each device, one with all devices of a node, or one on each of several nodes that work
    together. image, script: of a pod on such a node; the script runs in /bin/sh. parse: reads the pod's log.
    seconds: for how long it usually runs, beside what the task waits anyway.
    unfit: why the program cannot say anything about such a node, empty if it can. cpu: cores, memory: MiB of
    a pod. shared_memory: GiB of /dev/shm, 0 for the runtime's own. takes_shares: whether it runs on
    shares of GPUs too, where its figures are not judged. claims_channel: whether each pod claims a channel.
    """

    spread: t.Literal["device", "node", "nodes"]
    image: t.Callable[[GpuNode], str]
    script: t.Callable[[Settings, GpuNode], str]
    parse: t.Callable[[str, Settings], Result]
    seconds: t.Callable[[Settings], int] = lambda settings: settings.seconds
    unfit: t.Callable[[Settings, GpuNode], str] = lambda _settings, _node: ""
    cpu: float = 0.1
    memory: int = 1024
    shared_memory: int = 0
    takes_shares: bool = False
    claims_channel: bool = False
