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
    "access_grant": (53, 277),
    "access_review": (45, 249),
    "access_token": (48, 262),
    "gpu_autoscaler": (136, 670),
    "gpu_driver_upgrade": (146, 722),
    "gpu_machine_health": (48, 254),
    "gpu_machineset": (136, 719),
    "gpu_monitoring": (53, 286),
    "gpu_node": (76, 377),
    "gpu_node_repair": (117, 563),
    "gpu_partition": (52, 263),
    "gpu_plan": (118, 573),
    "gpu_preemption": (49, 234),
    "gpu_pull_secret": (61, 290),
    "gpu_queue": (81, 393),
    "gpu_quota": (62, 301),
    "gpu_removal": (73, 345),
    "gpu_repartition": (81, 402),
    "gpu_sharing": (64, 319),
    "gpu_sharing_proof": (73, 356),
    "gpu_use": (52, 268),
    "gpu_workload": (80, 385),
    "manifests": (41, 220),
    "nfd_labels": (60, 317),
    "node_tuning": (88, 413),
    "olm_operator": (70, 358),
    "operator_upgrade": (143, 763),
    "preflight_update": (78, 385),
    "special_resource": (138, 704),
    "update_pools": (69, 330),
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
