# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry: every error code of the collection, in the order of docs/errors.md."""

from __future__ import annotations

import typing as t

from . import (
    api,
    collection,
    credentials,
    gpu,
    gpu_driver,
    gpu_kmm,
    input,
    machine,
    nfd,
    nic,
    node,
    olm,
    pool,
    quota,
    tuning,
    update,
    workload,
)
from .code import Code

# One table of docs/errors.md each: its title and its codes.
SECTIONS: t.Final[tuple[tuple[str, tuple[Code, ...]], ...]] = (
    ("Options", input.INPUT),
    ("Description of the pools", pool.POOL),
    ("Credentials", credentials.CREDENTIALS),
    ("API server", api.API),
    ("Waiting", api.WAIT),
    ("Plain objects", api.MANIFEST),
    ("Machines", machine.MACHINE),
    ("Nodes to drain or remove", node.NODE),
    ("Repair of a node", node.REPAIR),
    ("Node tuning", tuning.TUNING),
    ("Tuning that reboots nodes", tuning.REBOOT),
    ("Operators", olm.OLM),
    ("Node Feature Discovery", nfd.NFD),
    ("GPU stack: policy, nodes and operands", gpu.STACK),
    ("GPU stack: driver", gpu_driver.DRIVER),
    ("GPU stack: claims, kernel modules and custom resources", gpu_kmm.MODULES),
    ("NIC stack", nic.NIC),
    ("Pull secrets", credentials.PULL),
    ("Quotas", quota.QUOTA),
    ("Policy of the pools", quota.POLICY),
    ("Queues", quota.QUEUE),
    ("Validation", workload.WORKLOAD),
    ("Drift", update.DRIFT),
    ("Monitoring", collection.MONITORING),
    ("Alerts", collection.ALERTS),
    ("Before an update", update.UPDATE),
    ("Driver upgrades", update.UPGRADE),
    ("Runs", collection.RUN),
    ("The collection itself", collection.COLLECTION),
)
CODES: t.Final[dict[str, Code]] = {one.code: one for _title, codes in SECTIONS for one in codes}
