# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry: every error code of the collection, in the order of docs/errors.md.

A task reads it only when it fails.
"""

from __future__ import annotations

import typing as t

from . import (
    api,
    cred,
    drift,
    gpu,
    input,
    internal,
    mach,
    manifest,
    mirror,
    mon,
    net,
    nfd,
    nic,
    node,
    olm,
    policy,
    pool,
    pull,
    queue,
    quota,
    reboot,
    repair,
    run,
    sched,
    tune,
    update,
    upgrade,
    wait,
    work,
)
from .code import Code

# One table of docs/errors.md each: its title and its codes.
SECTIONS: t.Final[tuple[tuple[str, tuple[Code, ...]], ...]] = (
    ("Options", input.CODES),
    ("Description of the pools", pool.CODES),
    ("Credentials", cred.CODES),
    ("API server", api.CODES),
    ("Waiting", wait.CODES),
    ("Plain objects", manifest.CODES),
    ("Machines", mach.CODES),
    ("Nodes to drain or remove", node.CODES),
    ("Repair of a node", repair.CODES),
    ("Node tuning", tune.CODES),
    ("Tuning that reboots nodes", reboot.CODES),
    ("Operators", olm.CODES),
    ("Node Feature Discovery", nfd.CODES),
    ("GPU stack", gpu.CODES),
    ("NIC stack", nic.CODES),
    ("Secondary networks", net.CODES),
    ("Pull secrets", pull.CODES),
    ("Images and their mirrors", mirror.CODES),
    ("Quotas", quota.CODES),
    ("Policy of the pools", policy.CODES),
    ("Queues", queue.CODES),
    ("Validation", work.CODES),
    ("Pods that do not run", sched.CODES),
    ("Drift", drift.CODES),
    ("Monitoring", mon.CODES),
    ("Before an update", update.CODES),
    ("Driver upgrades", upgrade.CODES),
    ("Runs", run.CODES),
    ("The collection itself", internal.CODES),
)
CODES: t.Final[dict[str, Code]] = {code.code: code for _title, codes in SECTIONS for code in codes}
