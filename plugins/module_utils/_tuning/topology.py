# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""CPUs and memory of a machine: which CPUs to reserve for the system, and whether settings fit it."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from .._core.input import Problems
from .options import HugePages, Isolation, Tuning

_LIST: t.Final = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")
# NUMA nodes and threads of a core of instance types with more than _ONE_NODE CPUs.
# The NCCL topology files of aws-ofi-nccl and azhpc-images say so of p4d, g5 and Azure's types. The others
# have two sockets (Grace: two chips), and their vendors publish no such file.
_KNOWN: t.Final[dict[str, tuple[int, int]]] = {
    **dict.fromkeys(("p4d.24xlarge", "p4de.24xlarge", "g5.48xlarge", "g6.48xlarge", "g6e.48xlarge"), (2, 2)),
    **dict.fromkeys(("p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge"), (2, 2)),
    **dict.fromkeys(("p6-b200.48xlarge", "p6-b300.48xlarge", "g7e.48xlarge", "g4dn.metal"), (2, 2)),
    **dict.fromkeys(("a2-highgpu-8g", "a2-ultragpu-8g", "a3-highgpu-8g", "a3-megagpu-8g"), (2, 2)),
    "p6e-gb200.36xlarge": (2, 1),
    **dict.fromkeys(("Standard_ND96asr_v4", "Standard_ND96amsr_A100_v4", "Standard_NC96ads_A100_v4"), (4, 1)),
    **dict.fromkeys(("Standard_ND96isr_H100_v5", "Standard_ND96isr_H200_v5"), (2, 1)),
    "Standard_NC48ads_A100_v4": (2, 1),
    "Standard_NC24ads_A100_v4": (1, 1),
}
# Machines of AWS and Google Cloud with at most this many CPUs are on one NUMA node.
_ONE_NODE: t.Final = 48
_AWS_OR_GCP: t.Final = re.compile(r"[a-z]+\d[a-z0-9-]*\.\d*[a-z]+|[agn]\d-[a-z]+-[a-z0-9]+(\+.*)?")
# A NUMA node with at least this many CPUs gives the system two cores instead of one.
_LARGE: t.Final = 24
# The most CPUs that the kernel of a node counts (CONFIG_NR_CPUS).
_MOST_CPUS: t.Final = 8192
# The least memory that huge pages leave to the system and to pods without huge pages, in GiB.
LEAST_LEFT: t.Final = 4
_GIB: t.Final = {"2M": 1 / 512, "1G": 1.0}


@dataclass(frozen=True)
class Topology:
    """The CPUs of a machine. adjacent: the threads of a core have neighbouring numbers."""

    cpus: int
    numa_nodes: int
    threads: int
    adjacent: bool = False

    def cores(self, numa_node: int) -> list[tuple[int, ...]]:
        """Return the cores of a NUMA node, each as the numbers of its threads."""
        number = self.cpus // self.threads
        first, last = (number * one // self.numa_nodes for one in (numa_node, numa_node + 1))
        if self.adjacent:
            return [
                tuple(range(core * self.threads, (core + 1) * self.threads)) for core in range(first, last)
            ]
        return [
            tuple(core + number * thread for thread in range(self.threads)) for core in range(first, last)
        ]


def of(tuning: Tuning) -> Topology | None:
    """Return the topology of the pool's machines, or None if it is unknown."""
    nodes, threads = tuning.numa_nodes, tuning.threads_per_core
    if not (nodes and threads):
        known = _known(tuning.instance_type, tuning.vcpus, tuning.arch)
        nodes, threads = nodes or known[0], threads or known[1]
    if not (nodes and threads and tuning.vcpus) or tuning.vcpus % (nodes * threads):
        return None
    return Topology(tuning.vcpus, nodes, threads, tuning.instance_type.startswith("Standard_"))


def _known(instance_type: str, cpus: int, arch: str) -> tuple[int, int]:
    if instance_type in _KNOWN:
        return _KNOWN[instance_type]
    if _AWS_OR_GCP.fullmatch(instance_type) and 0 < cpus <= _ONE_NODE:
        return 1, 1 if arch == "arm64" or cpus % 2 else 2
    return 0, 0


def computed(topology: Topology) -> Isolation:
    """Return the first cores of each NUMA node, with all their threads, as reserved; the rest as isolated."""
    reserved: set[int] = set()
    for node in range(topology.numa_nodes):
        cores = topology.cores(node)
        many = 2 if len(cores) * topology.threads >= _LARGE else 1
        reserved |= {cpu for core in cores[:many] for cpu in core}
    return Isolation(written(reserved), written(set(range(topology.cpus)) - reserved))


def isolation(tuning: Tuning) -> Isolation | None:
    """Return the CPUs to reserve and to isolate; None without isolate, and if they cannot be computed."""
    given = tuning.isolate
    if given is None:
        return None
    if not given.reserved:
        found = of(tuning)
        return computed(found) if found and not given.isolated else None
    if given.isolated:
        return Isolation(written(parse(given.reserved)), written(parse(given.isolated)))
    if not tuning.vcpus:
        return None
    rest = set(range(tuning.vcpus)) - parse(given.reserved)
    return Isolation(written(parse(given.reserved)), written(rest))


def parse(text: str) -> set[int]:
    """Return the CPUs of a list such as C(0-3,8). Raises ValueError if the text is not a list."""
    if not _LIST.fullmatch(text):
        raise ValueError(f"{text!r} is not a list of CPUs")
    found: set[int] = set()
    for part in text.split(","):
        first, _dash, last = part.partition("-")
        if int(last or first) < int(first):
            raise ValueError(f"{part} ends before it begins")
        if int(last or first) >= _MOST_CPUS:
            raise ValueError(f"{part} has a CPU above {_MOST_CPUS - 1}, and Linux counts no further")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def written(cpus: t.Collection[int]) -> str:
    """Return the CPUs as the shortest list, such as C(0-3,8)."""
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and parts[-1][1] == cpu - 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def check(tuning: Tuning, problems: Problems) -> None:
    """Add a problem for each setting that the machine cannot have, with the path of the option."""
    if tuning.isolate is not None:
        _check_isolation(tuning, tuning.isolate, problems)
    _check_huge_pages(tuning, problems)


def _check_isolation(tuning: Tuning, given: Isolation, problems: Problems) -> None:
    path = _path(tuning, "isolate")
    if not given.reserved and not given.isolated:
        _check_computed(tuning, path, problems)
        return
    if not given.reserved:
        also = ": with isolated CPUs the kubelet needs reserved ones for the system"
        remedy = "Set reserved to CPUs of each NUMA node, or write isolate: true."
        problems.add("POOL-REQUIRED", f"{path}.reserved", remedy=remedy, also=also)
    lists = _lists(given, path, problems)
    beyond = [key for key, cpus in lists.items() if tuning.vcpus and max(cpus) >= tuning.vcpus]
    for key in beyond:
        what, there = f"CPU {max(lists[key])}", f"the CPUs 0-{tuning.vcpus - 1}"
        problems.add("REBOOT-ABSENT", f"{path}.{key}", what=what, machine=_machine(tuning), there=there)
    asked = [one for one in (given.reserved, given.isolated) if one]
    if given.reserved and len(lists) == len(asked) and not beyond:
        _check_split(tuning, given, lists, path, problems)


def _check_split(
    tuning: Tuning, given: Isolation, lists: t.Mapping[str, set[int]], path: str, problems: Problems
) -> None:
    """Check that both lists together are the CPUs of the machine, each of them once."""
    both = lists["reserved"] & lists.get("isolated", set())
    if both:
        problems.add("REBOOT-CPU-LISTS", path, cpus=written(both), state="reserved and isolated")
    if not given.isolated and not tuning.vcpus:
        also = ": the number of CPUs of the machines is not known"
        remedy = "Set isolated to all other CPUs."
        problems.add("POOL-REQUIRED", f"{path}.isolated", remedy=remedy, also=also)
    everything = set(range(tuning.vcpus))
    isolated = lists.get("isolated", everything - lists["reserved"])
    if everything and not isolated:
        cpus, machine = tuning.vcpus, _machine(tuning)
        problems.add("REBOOT-ALL-CPUS", f"{path}.reserved", cpus=cpus, machine=machine)
    left = everything - lists["reserved"] - isolated
    if left:
        problems.add("REBOOT-CPU-LISTS", path, cpus=written(left), state="neither reserved nor isolated")


def _check_computed(tuning: Tuning, path: str, problems: Problems) -> None:
    found = of(tuning)
    if found is None:
        also = ", or to false" if "isolate" in tuning.advised else ""
        problems.add("REBOOT-NUMA", path, machine=_machine(tuning), also=also)
    elif not computed(found).isolated:
        problems.add("REBOOT-ALL-CPUS", path, cpus=found.cpus, machine=_machine(tuning))


def _lists(given: Isolation, path: str, problems: Problems) -> dict[str, set[int]]:
    found = {}
    for key, text in (("reserved", given.reserved), ("isolated", given.isolated)):
        try:
            if text:
                found[key] = parse(text)
        except ValueError as exc:
            problems.add("POOL-VALUE", f"{path}.{key}", f"{exc}.", 'Write it as "0-3,48-51".')
    return found


def _check_huge_pages(tuning: Tuning, problems: Problems) -> None:
    path = _path(tuning, "huge_pages")
    places = [(pages.size, pages.numa_node) for pages in tuning.huge_pages]
    for size, _node in {one for one in places if places.count(one) > 1}:
        remedy, also = "Write one entry with the sum of both counts.", " for the same place"
        problems.add("POOL-DUPLICATE", path, remedy=remedy, name=f"an entry for pages of {size}", also=also)
    topology = of(tuning)
    numa_nodes = tuning.numa_nodes or (topology.numa_nodes if topology else 0)
    for pages in tuning.huge_pages:
        if pages.numa_node is not None and numa_nodes and pages.numa_node >= numa_nodes:
            what, there = f"NUMA node {pages.numa_node}", f"the NUMA nodes 0-{numa_nodes - 1}"
            problems.add("REBOOT-ABSENT", path, what=what, machine=_machine(tuning), there=there)
    if not tuning.memory_gib:
        return
    _check_memory(tuning, tuning.huge_pages, tuning.memory_gib, path, "", problems)
    for node in range(numa_nodes):
        here = [pages for pages in tuning.huge_pages if pages.numa_node == node]
        where = f" on NUMA node {node}"
        _check_memory(tuning, here, tuning.memory_gib / numa_nodes, path, where, problems)


def _check_memory(
    tuning: Tuning, pages: t.Sequence[HugePages], memory: float, path: str, where: str, problems: Problems
) -> None:
    wanted = sum(page.count * _GIB[page.size] for page in pages)
    most = memory - (0 if where else LEAST_LEFT)
    is_advised = "huge_pages" in tuning.advised
    if pages and wanted > most:
        kept = "" if where else f", of which {LEAST_LEFT} stay for the system"
        problems.add(
            "REBOOT-HUGE-PAGES",
            path,
            pages=f"the huge pages that {tuning.profile} advises" if is_advised else "the pages",
            wanted=f"{wanted:.10g} GiB{where}",
            machine=_machine(tuning),
            memory=f"{memory:.10g} GiB{where}{kept}",
            most=f"{max(most, 0):.10g} GiB in all{where}",
            also=", or to [] for none" if is_advised else "",
        )


def _machine(tuning: Tuning) -> str:
    return tuning.instance_type or f"a machine of pool {tuning.name}"


def _path(tuning: Tuning, option: str) -> str:
    """Return the path of what asks for the option: the profile, if the pool does not write the option."""
    return f"{tuning.path}.{'profile' if option in tuning.advised else option}"
