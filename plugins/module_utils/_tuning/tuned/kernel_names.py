# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and values of sysctls and kernel arguments that people set by hand, to find mistyped ones.

A kernel has more of both. So only a name is refused that is nearly one of these, and is none of them.
"""

from __future__ import annotations

import difflib
import re
import typing as t

# Folder of /proc/sys -> names, of Linux 5.14 to 6.18. Of names that are alike, all are here or none.
_SYSCTLS: t.Final = {
    "vm": """admin_reserve_kbytes compact_memory compact_unevictable_allowed compaction_proactiveness
        defrag_mode dirty_background_bytes dirty_background_ratio dirty_bytes dirty_expire_centisecs
        dirty_ratio dirty_writeback_centisecs dirtytime_expire_seconds drop_caches enable_soft_offline
        extfrag_threshold hugetlb_optimize_vmemmap hugetlb_shm_group laptop_mode legacy_va_layout
        lowmem_reserve_ratio max_map_count memfd_noexec memory_failure_early_kill memory_failure_recovery
        min_free_kbytes min_slab_ratio min_unmapped_ratio mmap_min_addr mmap_rnd_bits mmap_rnd_compat_bits
        nr_hugepages nr_hugepages_mempolicy nr_overcommit_hugepages numa_stat numa_zonelist_order
        oom_dump_tasks oom_kill_allocating_task overcommit_kbytes overcommit_memory overcommit_ratio
        page-cluster page_lock_unfairness panic_on_oom percpu_pagelist_fraction
        percpu_pagelist_high_fraction shrink_inodes_with_pagecache stat_interval stat_refresh swappiness
        unprivileged_userfaultfd user_reserve_kbytes vfs_cache_pressure vfs_cache_pressure_denom
        watermark_boost_factor watermark_scale_factor zone_reclaim_mode""",
    "net.core": """bpf_jit_enable bpf_jit_harden bpf_jit_kallsyms bpf_jit_limit busy_poll busy_read
        default_qdisc dev_weight dev_weight_rx_bias dev_weight_tx_bias devconf_inherit_init_net
        fb_tunnels_only_for_init_net flow_limit_cpu_bitmap flow_limit_table_len gro_normal_batch
        high_order_alloc_disable max_skb_frags mem_pcpu_rsv message_burst message_cost netdev_budget
        netdev_budget_usecs netdev_max_backlog netdev_rss_key netdev_tstamp_prequeue
        netdev_unregister_timeout_secs optmem_max rmem_default rmem_max rps_default_mask
        rps_sock_flow_entries skb_defer_max somaxconn tstamp_allow_data txrehash warnings wmem_default
        wmem_max xfrm_acq_expires xfrm_aevent_etime xfrm_aevent_rseqth xfrm_larval_drop""",
    "kernel": """hung_task_check_count hung_task_check_interval_secs hung_task_panic
        hung_task_timeout_secs hung_task_warnings kptr_restrict msgmax msgmnb msgmni nmi_watchdog
        numa_balancing numa_balancing_promote_rate_limit_MBps numa_balancing_scan_delay_ms
        numa_balancing_scan_period_max_ms numa_balancing_scan_period_min_ms numa_balancing_scan_size_mb
        panic panic_on_oops perf_cpu_time_max_percent perf_event_max_contexts_per_stack
        perf_event_max_sample_rate perf_event_max_stack perf_event_mlock_kb perf_event_paranoid pid_max
        randomize_va_space sched_autogroup_enabled sched_cfs_bandwidth_slice_us
        sched_deadline_period_max_us sched_deadline_period_min_us sched_rr_timeslice_ms
        sched_rt_period_us sched_rt_runtime_us sched_schedstats shmall shmmax shmmni shm_rmid_forced
        soft_watchdog softlockup_panic threads-max timer_migration watchdog watchdog_cpumask
        watchdog_thresh""",
    "net.ipv4": """fib_multipath_hash_fields fib_multipath_hash_policy fib_multipath_hash_seed
        fib_multipath_use_neigh ip_early_demux ip_forward ip_forward_update_priority ip_forward_use_pmtu
        ip_local_port_range ip_local_reserved_ports ip_unprivileged_port_start ipfrag_high_thresh
        ipfrag_low_thresh ipfrag_max_dist ipfrag_secret_interval ipfrag_time tcp_adv_win_scale
        tcp_allowed_congestion_control tcp_app_win tcp_autocorking tcp_available_congestion_control
        tcp_base_mss tcp_comp_sack_delay_ns tcp_comp_sack_nr tcp_comp_sack_slack_ns
        tcp_congestion_control tcp_dsack tcp_early_demux tcp_early_retrans tcp_ecn tcp_ecn_fallback
        tcp_ecn_option tcp_fack tcp_fastopen tcp_fastopen_key tcp_fin_timeout tcp_frto
        tcp_keepalive_intvl tcp_keepalive_probes tcp_keepalive_time tcp_limit_output_bytes
        tcp_low_latency tcp_max_orphans tcp_max_reordering tcp_max_syn_backlog tcp_max_tw_buckets tcp_mem
        tcp_min_rtt_wlen tcp_min_snd_mss tcp_min_tso_segs tcp_moderate_rcvbuf tcp_mtu_probe_floor
        tcp_mtu_probing tcp_no_metrics_save tcp_no_ssthresh_metrics_save tcp_notsent_lowat
        tcp_orphan_retries tcp_pacing_ca_ratio tcp_pacing_ss_ratio tcp_probe_interval
        tcp_probe_threshold tcp_recovery tcp_reordering tcp_retrans_collapse tcp_retries1 tcp_retries2
        tcp_rmem tcp_sack tcp_shrink_window tcp_slow_start_after_idle tcp_syn_linear_timeouts
        tcp_syn_retries tcp_synack_retries tcp_syncookies tcp_thin_linear_timeouts tcp_timestamps
        tcp_tw_reuse tcp_tw_reuse_delay tcp_window_scaling tcp_wmem udp_early_demux udp_mem udp_rmem_min
        udp_wmem_min""",
    "fs": """aio-max-nr aio-nr file-max file-nr mount-max nr_open pipe-max-size pipe-user-pages-hard
        pipe-user-pages-soft""",
    "fs.inotify": "max_queued_events max_user_instances max_user_watches",
}
_NAMES: t.Final = {folder: names.split() for folder, names in _SYSCTLS.items()}
# Sysctls of these folders that take text; all others take whole numbers.
_TEXTS: t.Final = (
    *("vm.numa_zonelist_order", "net.core.default_qdisc", "net.core.flow_limit_cpu_bitmap"),
    *("net.core.netdev_rss_key", "net.core.rps_default_mask", "kernel.watchdog_cpumask"),
    *("net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_allowed_congestion_control"),
    *("net.ipv4.tcp_congestion_control", "net.ipv4.tcp_fastopen_key"),
)
_NUMBERS: t.Final = re.compile(r"(-?\d+|0x[0-9a-fA-F]+)( (-?\d+|0x[0-9a-fA-F]+))*")
# The largest value of some sysctls; their least is 0.
_MOST: t.Final = {
    **dict.fromkeys(("vm.dirty_ratio", "vm.dirty_background_ratio", "vm.compaction_proactiveness"), 100),
    "vm.swappiness": 200,
}
_OF_ANY_VALUE: t.Final = """
    amd_iommu amd_pstate audit_backlog_limit cgroup_disable cgroup_enable cgroup_no_v1 clocksource console
    crashkernel default_hugepagesz hugepages hugepagesz idle intel_idle.max_cstate intel_pstate
    iommu.passthrough iommu.strict irqaffinity isolcpus kvm.nx_huge_pages loglevel modprobe.blacklist
    module_blacklist nmi_watchdog nohz nohz_full nopti nosmp nosmt nosoftlockup nospectre_v1 nospectre_v2
    nowatchdog nr_cpus numa numa_cma pci pcie_aspm pcie_port_pm pcie_ports processor.max_cstate quiet
    rcu_nocb_poll rcu_nocbs rd.driver.blacklist rd.driver.pre rdblacklist selinux skew_tick spectre_v2
    spectre_v2_user swiotlb systemd.cpu_affinity systemd.unified_cgroup_hierarchy thp_anon thp_shmem
    transparent_hugepage_shmem transparent_hugepage_tmpfs tsc vfio-pci.disable_idle_d3
    vfio-pci.disable_vga vfio-pci.ids watchdog_thresh
"""
# Kernel argument -> its values, separated by commas; empty if any may be right.
_ARGUMENTS: t.Final = {
    "iommu": """off force noforce biomerge panic nopanic merge nomerge soft pt nopt fullflush allowdac
        forcesac noaperture memaper noagp usedac""",
    "intel_iommu": """on off igfx_off forcedac strict sp_off sm_on sm_off nobounce tboot_noforce
        igfx_passthrough""",
    "mitigations": "off auto nosmt",
    **dict.fromkeys(("init_on_alloc", "init_on_free", "audit", "psi"), "0 1 on off y n true false"),
    "numa_balancing": "enable disable",
    "transparent_hugepage": "always madvise never",
    **dict.fromkeys(_OF_ANY_VALUE.split(), ""),
}


def near_sysctl(name: str) -> str:
    """Return the sysctl that a mistyped name means; empty for a name that may be right. name: with dots."""
    folder, _dot, last = name.rpartition(".")
    names = _NAMES.get(folder, [])
    close = [] if last in names else difflib.get_close_matches(last, names, n=1, cutoff=0.88)
    return f"{folder}.{close[0]}" if close else ""


def taken(name: str, value: str) -> str:
    """Return what a known sysctl takes if the kernel refuses this value; empty if it may take it."""
    folder, _dot, last = name.rpartition(".")
    if last not in _NAMES.get(folder, ()) or name in _TEXTS:
        return ""
    most = _MOST.get(name)
    if most is not None:
        return "" if value.isdigit() and int(value) <= most else f"a whole number of 0 to {most}"
    return "" if _NUMBERS.fullmatch(value) else "whole numbers"


def near_argument(name: str) -> str:
    """Return the kernel argument that a mistyped name means; empty for a name that may be right."""
    known = {plain(one) for one in _ARGUMENTS}
    close = [] if plain(name) in known else difflib.get_close_matches(name, _ARGUMENTS, n=1, cutoff=0.88)
    return close[0] if close else ""


def values(name: str) -> list[str]:
    """Return the values that a kernel argument can have; an empty list if that is not known."""
    return _ARGUMENTS.get(plain(name), "").split()


def plain(name: str) -> str:
    """Return the name of a kernel argument as the kernel compares it: '-' is '_'."""
    return name.replace("-", "_")
