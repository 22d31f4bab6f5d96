"""What TuneD says to a text."""

from __future__ import annotations

import pytest

from openshift_sandbox.stand_ins.node_tuning.profiles import Outcome, outcome, parsed
from openshift_sandbox.stand_ins.node_tuning.sysctls import error


def loaded(text: str, **others: str) -> Outcome:
    return outcome("gpu", (("gpu", text), *others.items()))


def test_a_shipped_profile_is_applied() -> None:
    assert outcome("openshift-node", ()) == Outcome(True, read=("openshift-node",))


def test_a_profile_with_what_it_includes() -> None:
    text = "[main]\ninclude=openshift-node,base\n[sysctl]\nvm.swappiness=1\n"
    assert loaded(text, base="[vm]\ntransparent_hugepages=never\n") == Outcome(
        True, read=("base", "gpu", "openshift-node")
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[sysctl\nvm.swappiness=1", "Cannot parse '/etc/tuned/gpu/tuned.conf'."),
        ("[sysctl]\nvm.swappiness", "Cannot parse '/etc/tuned/gpu/tuned.conf'."),
        ("[main]\ninclude=nowhere\n", "Cannot find profile 'nowhere' in"),
    ],
)
def test_a_profile_that_cannot_be_loaded(text: str, error: str) -> None:
    found = loaded(text)
    assert not found.applied
    assert found.error.startswith(
        " ERROR    tuned.daemon.controller: Failed to reload TuneD: Cannot load profile(s) 'gpu': "
    )
    assert error in found.error


def test_an_include_may_be_optional_or_computed() -> None:
    assert loaded("[main]\ninclude=-nowhere,-provider-${f:exec:cat:/x},openshift\n").applied


def test_an_unknown_plugin_is_an_error_but_the_rest_is_applied() -> None:
    assert loaded("[nvidia]\nclock=1\n") == Outcome(
        True, " ERROR    tuned.units.manager: failed to initialize plugin nvidia", read=("gpu",)
    )
    assert loaded("[my-net]\ntype=net\nchannels=combined 8\n").error == ""


def test_kernel_arguments_come_from_all_bootloader_options() -> None:
    base = "[bootloader]\ncmdline_base=+nosmt\ncmdline=old\n"
    text = (
        "[main]\ninclude=base\n[variables]\ncores=4-7\n[bootloader]\ncmdline=+iommu=pt  isolcpus=${cores}\n"
    )
    assert loaded(text, base=base).bootcmdline == "nosmt iommu=pt isolcpus=4-7"
    assert loaded("[bootloader]\nenabled=false\ncmdline=+iommu=pt\n").bootcmdline == ""


def test_the_last_error_is_reported() -> None:
    found = loaded("[sysctl]\nvm.swapiness=1\nvm.swappiness=high\n")
    assert (found.applied, found.error) == (True, error("vm.swappiness", "high"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("net.core.rmem_max", "536870912"),
        ("net.ipv4.tcp_rmem", "4096 87380 536870912"),
        ("net.ipv4.conf.all.arp_announce", "2"),
        ("net.ipv4.conf.eth0.100.arp_ignore", "1"),
        ("net.ipv4.neigh.default.gc_thresh1", "8192"),
        ("net.ipv4.tcp_congestion_control", "bbr"),
        ("net.core.default_qdisc", "fq"),
        ("kernel.numa_balancing", "0"),
        ("vm.nr_hugepages", ">8192"),
        ("kernel.core_pattern", "|/bin/false"),
        ("net/core/somaxconn", "4096"),
        ("vm.min_free_kbytes", "${f:exec:x}"),
    ],
)
def test_what_the_kernel_takes(name: str, value: str) -> None:
    assert error(name, value) is None


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("net.core.rmem_maxx", "1", "sysctl option net.core.rmem_maxx will not be set"),
        ("kernel.sched_migration_cost_ns", "5000000", "failed to read the original value"),
        ("vm.swappiness", "low", "Failed to set sysctl parameter 'vm.swappiness' to 'low'"),
        ("vm.swappiness", "1 2", "Invalid argument"),
        ("vm.swappiness", "", "Invalid argument"),
        ("net.ipv4.tcp_congestion_control", "vegas2", "Invalid argument"),
    ],
)
def test_what_it_does_not_take(name: str, value: str, text: str) -> None:
    assert text in str(error(name, value))


def test_comments_and_values_with_an_equals_sign() -> None:
    sections = parsed("gpu", "# a comment\n[bootloader]\ncmdline=iommu=pt # why\n")
    assert sections == {"bootloader": {"cmdline": "iommu=pt"}}
