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
    "access_grant": (54, 284),
    "access_review": (45, 254),
    "access_token": (48, 267),
    "gpu_autoscaler": (135, 673),
    "gpu_driver_upgrade": (143, 723),
    "gpu_machine_health": (48, 258),
    "gpu_machineset": (134, 720),
    "gpu_monitoring": (53, 290),
    "gpu_node": (74, 378),
    "gpu_node_repair": (114, 563),
    "gpu_partition": (51, 266),
    "gpu_plan": (118, 576),
    "gpu_preemption": (49, 237),
    "gpu_pull_secret": (61, 294),
    "gpu_queue": (87, 418),
    "gpu_quota": (60, 304),
    "gpu_removal": (72, 351),
    "gpu_repartition": (80, 404),
    "gpu_sharing": (64, 322),
    "gpu_sharing_proof": (72, 360),
    "gpu_use": (52, 271),
    "gpu_workload": (78, 388),
    "manifests": (41, 224),
    "nfd_labels": (60, 320),
    "node_tuning": (87, 416),
    "olm_operator": (69, 362),
    "operator_upgrade": (143, 770),
    "preflight_update": (78, 390),
    "special_resource": (138, 711),
    "update_pools": (68, 334),
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
