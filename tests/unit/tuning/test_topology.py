"""CPUs to reserve and huge pages: what is computed, and what is refused with its path."""

from __future__ import annotations

import typing as t

import pytest
from unit.tuning import builders
from unit.tuning.operator_in_memory import tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problems
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import topology
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import (
    HugePages,
    Isolation,
    Tuning,
)

COMPUTED: t.Final = Isolation()
P4D: t.Final = {"instance_type": "p4d.24xlarge", "vcpus": 96, "memory_gib": 1152}


def problems_of(one: Tuning) -> list[tuple[str, str, str]]:
    problems = Problems()
    topology.check(one, problems)
    return [(found.code, found.path, found.message) for found in problems.found]


@pytest.mark.parametrize(
    ("facts", "reserved", "isolated"),
    [
        # Two cores of each of the two NUMA nodes, with both threads.
        (P4D, "0-1,24-25,48-49,72-73", "2-23,26-47,50-71,74-95"),
        # Four NUMA nodes without threads: neighbouring numbers.
        (
            {"instance_type": "Standard_ND96asr_v4", "vcpus": 96},
            "0-1,24-25,48-49,72-73",
            "2-23,26-47,50-71,74-95",
        ),
        # A small machine gives one core with its sibling.
        ({"instance_type": "g5.xlarge", "vcpus": 4}, "0,2", "1,3"),
        # Grace has no threads.
        (
            {"instance_type": "p6e-gb200.36xlarge", "vcpus": 144, "arch": "arm64"},
            "0-1,72-73",
            "2-71,74-143",
        ),
        # What the planner knows counts more than the table.
        ({"vcpus": 16, "numa_nodes": 2, "threads_per_core": 2}, "0,4,8,12", "1-3,5-7,9-11,13-15"),
        # The threads of a core have neighbouring numbers on Azure.
        (
            {
                "instance_type": "Standard_NC4as_T4_v3",
                "vcpus": 4,
                "numa_nodes": 1,
                "threads_per_core": 2,
            },
            "0-1",
            "2-3",
        ),
    ],
)
def test_computed_cpus(facts: dict[str, t.Any], reserved: str, isolated: str) -> None:
    one = tuning(isolate=COMPUTED, **facts)
    assert topology.isolation(one) == Isolation(reserved, isolated)
    assert problems_of(one) == []


def test_each_reserved_core_is_reserved_with_all_its_threads() -> None:
    found = topology.of(tuning(**P4D))
    assert found is not None
    reserved = topology.parse(topology.computed(found).reserved)
    for node in range(found.numa_nodes):
        cores = [set(core) for core in found.cores(node)]
        assert all(core <= reserved or not core & reserved for core in cores)
        assert any(core <= reserved for core in cores)


def test_given_cpus_and_the_rest() -> None:
    assert topology.isolation(tuning(isolate=Isolation("0-1"))) == Isolation("0-1", "2-7")
    assert topology.isolation(tuning(isolate=Isolation("1,0", "2-7"))) == Isolation("0-1", "2-7")
    assert topology.isolation(tuning()) is None


@pytest.mark.parametrize(
    ("isolate", "code", "path", "message"),
    [
        (Isolation("", "2-7"), "POOL-REQUIRED", ".reserved", "is required: with isolated CPUs"),
        (Isolation("0-1,9", ""), "REBOOT-ABSENT", ".reserved", "CPU 9 does not exist"),
        (Isolation("0-1", "2-8"), "REBOOT-ABSENT", ".isolated", "CPU 8 does not exist"),
        (Isolation("0-2", "2-7"), "REBOOT-CPU-LISTS", "", "CPUs 2 are reserved and isolated"),
        (Isolation("0-1", "3-7"), "REBOOT-CPU-LISTS", "", "CPUs 2 are neither reserved nor isolated"),
        (Isolation("0-7", ""), "REBOOT-ALL-CPUS", ".reserved", "all 8 CPUs of a machine of pool training"),
        (Isolation("a-b", "2-7"), "POOL-VALUE", ".reserved", "'a-b' is not a list of CPUs"),
        (Isolation("3-1", "2-7"), "POOL-VALUE", ".reserved", "3-1 ends before it begins"),
        (Isolation("0-99999999999", ""), "POOL-VALUE", ".reserved", "has a CPU above 8191"),
        (Isolation("0-500", ""), "REBOOT-ABSENT", ".reserved", "CPU 500 does not exist"),
        (COMPUTED, "REBOOT-NUMA", "", "computed: the NUMA nodes of a machine of pool training are not known"),
    ],
)
def test_wrong_cpus_are_refused_with_their_path(
    isolate: Isolation, code: str, path: str, message: str
) -> None:
    (found,) = problems_of(tuning(isolate=isolate))
    assert found[:2] == (code, f"pools[0].tuning.isolate{path}")
    assert message in found[2]


def test_a_machine_that_would_be_reserved_as_a_whole() -> None:
    (found,) = problems_of(tuning(isolate=COMPUTED, instance_type="g6f.large", vcpus=2))
    assert "all 2 CPUs of g6f.large would be reserved" in found[2]


def test_isolated_cpus_are_needed_where_the_number_of_cpus_is_unknown() -> None:
    (found,) = problems_of(tuning(isolate=Isolation("0-1"), vcpus=0))
    assert found[1] == "pools[0].tuning.isolate.isolated"
    assert problems_of(tuning(isolate=Isolation("0-1", "2-400"), vcpus=0)) == []


@pytest.mark.parametrize(
    ("pages", "facts", "code", "message"),
    [
        (
            [HugePages("1G", 61)],
            {},
            "REBOOT-HUGE-PAGES",
            "the pages need 61 GiB; a machine of pool training has 64 GiB, of which 4",
        ),
        ([HugePages("2M", 30720), HugePages("1G", 1)], {}, "REBOOT-HUGE-PAGES", "the pages need 61 GiB"),
        (
            [HugePages("1G", 600, 1)],
            P4D,
            "REBOOT-HUGE-PAGES",
            "need 600 GiB on NUMA node 1; p4d.24xlarge has 576 GiB",
        ),
        (
            [HugePages("1G", 1), HugePages("1G", 2)],
            {},
            "POOL-DUPLICATE",
            "pages of 1G is listed twice for the same place",
        ),
        (
            [HugePages("1G", 1, 2)],
            P4D,
            "REBOOT-ABSENT",
            "NUMA node 2 does not exist: p4d.24xlarge has the NUMA nodes 0-1",
        ),
    ],
)
def test_huge_pages_beyond_the_memory(
    pages: list[HugePages], facts: dict[str, t.Any], code: str, message: str
) -> None:
    (found,) = problems_of(tuning(huge_pages=tuple(pages), **facts))
    assert found[:2] == (code, "pools[0].tuning.huge_pages")
    assert message in found[2]


def test_huge_pages_that_fit() -> None:
    assert problems_of(tuning(huge_pages=(HugePages("1G", 60),))) == []
    assert problems_of(tuning(huge_pages=(HugePages("1G", 6000),), memory_gib=0)) == []
    assert problems_of(tuning(huge_pages=(HugePages("1G", 500, 0), HugePages("1G", 500, 1)), **P4D)) == []


def test_an_unknown_type_has_no_topology() -> None:
    assert topology.of(tuning(instance_type="m5.metal", vcpus=96)) is None
    assert topology.of(tuning(vcpus=7, numa_nodes=2, threads_per_core=2)) is None


def test_advice_of_a_profile_that_does_not_fit_names_the_profile() -> None:
    asked = builders.tuning("inference", profile="inference", reboot="planned", memory_gib=16)
    found = Problems()
    topology.check(asked, found)
    pages = next(one for one in found.found if one.code == "REBOOT-HUGE-PAGES")
    cpus = next(one for one in found.found if one.code == "REBOOT-NUMA")
    assert pages.path == cpus.path == "gpu_pools[0].tuning.profile"
    assert pages.message.startswith("the huge pages that inference advises need 16 GiB;")
    assert pages.remedy == "Set huge_pages in tuning to pages of at most 12 GiB in all, or to [] for none."
    assert cpus.remedy.endswith("or to false.")
