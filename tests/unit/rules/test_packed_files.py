# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much Ansible packs with each module: all files that it imports."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.rules.test_layers import FILES, PLUGINS, UTILS, own

# Files and KiB that Ansible packs with a module, at most. `manifests` shows the frame and the client alone.
PACKED: dict[str, tuple[int, int]] = {
    "access_grant": (53, 285),
    "access_review": (45, 256),
    "access_token": (48, 270),
    "gpu_autoscaler": (135, 685),
    "gpu_driver_upgrade": (143, 735),
    "gpu_machine_health": (48, 262),
    "gpu_machineset": (134, 732),
    "gpu_monitoring": (53, 294),
    "gpu_node": (74, 384),
    "gpu_node_repair": (114, 573),
    "gpu_partition": (51, 270),
    "gpu_plan": (118, 586),
    "gpu_preemption": (49, 241),
    "gpu_pull_secret": (61, 299),
    "gpu_queue": (79, 402),
    "gpu_quota": (60, 309),
    "gpu_removal": (70, 351),
    "gpu_repartition": (80, 411),
    "gpu_sharing": (64, 328),
    "gpu_sharing_proof": (72, 366),
    "gpu_use": (52, 276),
    "gpu_workload": (78, 394),
    "manifests": (41, 227),
    "nfd_labels": (60, 325),
    "node_tuning": (87, 424),
    "olm_operator": (69, 367),
    "operator_upgrade": (143, 783),
    "preflight_update": (78, 397),
    "special_resource": (138, 723),
    "update_pools": (68, 339),
}


def packed(path: Path) -> set[Path]:
    """Return the files that Ansible packs with a module: all utils it imports, and `__init__` of packages."""
    found: set[Path] = set()
    ahead = [path]
    while ahead:
        for name in own(ahead.pop()):
            parents = [UTILS / parent / "__init__.py" for parent in Path(name).parents]
            new = {FILES[name], *parents} - found
            found |= new
            ahead += new
    return found


def test_every_module_has_its_bound() -> None:
    assert set(PACKED) == {path.stem for path in (PLUGINS / "modules").glob("*.py")}


@pytest.mark.parametrize("module", PACKED)
def test_a_module_packs_few_files(module: str) -> None:
    """Ansible packs and reads each file for every task that runs as a module."""
    found = packed(PLUGINS / "modules" / f"{module}.py")
    size = sum(path.stat().st_size for path in found)
    files_at_most, kib = PACKED[module]
    assert {FILES["_frame/module"], FILES["_kube/http"]} <= found
    assert len(found) <= files_at_most
    assert size <= kib * 1024
