"""What TuneD, the kernel or the machines would not take is found before any request."""

from __future__ import annotations

import typing as t

import pytest
from unit.tuning.builders import tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problem, Problems
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned import check

MAIN: t.Final = "[main]\ninclude=openshift-node\n"


def problems(**given: t.Any) -> list[Problem]:
    found = Problems()
    check.check(tuning(**given), found)
    return found.found


@pytest.mark.parametrize(
    "given",
    [
        {"profile": "accelerator"},
        {"profile": "training"},
        {"profile": "grace"},
        {"profile": "grace", "arch": "arm64"},
        {"profile": "ours", "data": f"{MAIN}[disk_ssd]\ntype=disk\nreadahead=>4096\n[variables]\na=b\n"},
        {"data": "[main]\ninclude=-provider-x,openshift\n"},
        {"sysctl": {"net.core.rmem_max": "536870912", "net.ipv4.tcp_rmem": "4096 87380 268435456"}},
        {"sysctl": {"net/ipv4/conf/eth0.100/arp_ignore": "1"}},
        {"sysctl": {"net.ipv4.tcp_congestion_control": "bbr", "kernel.sched_new_in_this_kernel": "auto"}},
        {"data": f"{MAIN}[sysctl]\nvm.swappiness_of_a_new_kernel=1\n"},
        {"data": "[main]\ninclude=openshift-node,openshift-node-performance-other\n"},
        {"kernel_arguments": ["iommu=pt,nomerge", "mitigations=auto,nosmt", "nvidia.NVreg_X=1", "quiet"]},
    ],
)
def test_what_is_right(given: dict[str, t.Any]) -> None:
    assert problems(**given) == []


@pytest.mark.parametrize(
    ("given", "path", "says"),
    [
        ({"profile": "trainning"}, "profile", "Did you mean training?"),
        ({"profile": "ours"}, "profile", "or give the text of the profile in data"),
        ({"profile": "grace", "arch": "amd64"}, "profile", "grace is for arm64, the nodes are amd64"),
        (
            {"profile": "training", "arch": "arm64"},
            "profile",
            "Set one of accelerator, inference, grace",
        ),
        ({"profile": "accelerator", "data": MAIN}, "profile", "Remove data"),
        ({"data": "include=openshift-node"}, "data", "TuneD cannot read it"),
        ({"data": "[main]\nsummary=x\n"}, "data", "includes no profile of OpenShift"),
        ({"data": f"{MAIN}[sysctrl]\na=b\n"}, "data", "Did you mean sysctl?"),
        ({"data": f"{MAIN}[mine]\ntype=cpus\n"}, "data", "Did you mean cpu?"),
        ({"data": f"{MAIN}[bootloader]\ncmdline=+x\n"}, "data", "set kernel_arguments"),
        ({"data": f"{MAIN}[script]\nscript=x.sh\n"}, "data", "Remove the section"),
        ({"sysctl": {"swappiness": "1"}}, "sysctl.swappiness", "is not the name of a sysctl"),
        (
            {"sysctl": {"nett.core.rmem_max": "1"}},
            "sysctl.nett.core.rmem_max",
            "Did you mean net.core.rmem_max?",
        ),
        ({"sysctl": {"net.ipv4.ip_forward": "0"}}, "sysctl.net.ipv4.ip_forward", "belongs to the kubelet"),
        (
            {"sysctl": {"net.ipv4.neigh.default.retrans_time": "1"}},
            "sysctl.net.ipv4.neigh.default.retrans_time",
            "retrans_time_ms",
        ),
        ({"sysctl": {"vm.swappiness": ""}}, "sysctl.vm.swappiness", "is empty"),
        ({"sysctl": {"vm.swappiness": "${f:exec:id}"}}, "sysctl.vm.swappiness", "means something else"),
        ({"kernel_arguments": ["iommu=pt quiet"]}, "kernel_arguments[0]", "is not one kernel argument"),
        ({"kernel_arguments": ["quiet", "hugepages=8"]}, "kernel_arguments[1]", "Set huge_pages instead"),
        ({"kernel_arguments": ["isolcpus=1-3"]}, "kernel_arguments[0]", "Set isolate instead"),
        ({"kernel_arguments": ["root=/dev/sda"]}, "kernel_arguments[0]", "belongs to the platform"),
        (
            {"kernel_arguments": ["iommu=pt"], "arch": "arm64"},
            "kernel_arguments[0]",
            "iommu.passthrough",
        ),
        ({"kernel_arguments": ["quiet", "quiet"]}, "kernel_arguments[1]", "listed twice"),
        ({"kernel_arguments": ["nohz-full=1-3"]}, "kernel_arguments[0]", "Set isolate instead"),
        ({"kernel_arguments": ["iomu=pt"]}, "kernel_arguments[0]", "Did you mean iommu=pt?"),
        ({"kernel_arguments": ["iommu=yes"]}, "kernel_arguments[0]", "the kernel ignores iommu=yes"),
        ({"kernel_arguments": ["iommu"]}, "kernel_arguments[0]", "Set one of off, force"),
        ({"kernel_arguments": ["mitigations=of"]}, "kernel_arguments[0]", "Set one of off, auto, nosmt"),
        ({"sysctl": {"vm.swapiness": "1"}}, "sysctl.vm.swapiness", "Did you mean vm.swappiness?"),
        ({"sysctl": {"vm/swapiness": "1"}}, "sysctl.vm/swapiness", "Did you mean vm.swappiness?"),
        ({"sysctl": {"vm.swappiness": "10%"}}, "sysctl.vm.swappiness", "Give a whole number of 0 to 200"),
        ({"sysctl": {"vm.swappiness": "500"}}, "sysctl.vm.swappiness", "the kernel refuses '500'"),
        ({"sysctl": {"fs.file-max": "1G"}}, "sysctl.fs.file-max", "Give whole numbers"),
        (
            {"sysctl": {"net/core/rmem_max": "5", "net.core.rmem_max": "6"}},
            "sysctl.net.core.rmem_max",
            "listed twice",
        ),
        ({"data": f"{MAIN}[sysctl]\nnet/ipv4/ip_forward=0\n"}, "data", "belongs to the kubelet"),
        ({"data": "[main]\ninclude=openshift-nod\n"}, "data", "Did you mean openshift-node?"),
        ({"data": f"{MAIN}vm.swappiness=10\n"}, "data", "Write a line [sysctl] before it"),
    ],
)
def test_what_is_wrong(given: dict[str, t.Any], path: str, says: str) -> None:
    found = problems(**given)
    assert [one.path for one in found] == [f"gpu_pools[0].tuning.{path}"]
    assert says in f"{found[0].message} {found[0].remedy}"


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        ({"isolate": True}, "REBOOT-NUMA", "isolate"),
        ({"isolate": {"reserved": "0-9"}, "vcpus": 8}, "REBOOT-ABSENT", "isolate.reserved"),
        (
            {"huge_pages": [{"size": "1G", "count": 64}], "memory_gib": 64},
            "REBOOT-HUGE-PAGES",
            "huge_pages",
        ),
    ],
)
def test_what_the_machine_does_not_have(given: dict[str, t.Any], code: str, path: str) -> None:
    assert (code, f"gpu_pools[0].tuning.{path}") in [(one.code, one.path) for one in problems(**given)]


def test_the_remark_names_what_is_left_out() -> None:
    assert check.warning(tuning(profile="accelerator")) == ""
    assert "iommu=pt, kernel argument pci=realloc=off" in check.warning(tuning(profile="training"))
    assert "isolated CPUs, 8192 huge pages of 2M" in check.warning(tuning(profile="inference"))
