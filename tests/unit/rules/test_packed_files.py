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
    "access_review": (43, 256),
    "access_grant": (49, 285),
    "access_token": (46, 270),
    "gpu_autoscaler": (131, 690),
    "gpu_driver_upgrade": (141, 771),
    "gpu_machine_health": (47, 266),
    "gpu_machineset": (142, 774),
    "gpu_monitoring": (50, 284),
    "gpu_node": (72, 390),
    "gpu_node_repair": (112, 583),
    "gpu_plan": (114, 587),
    "gpu_pull_secret": (60, 311),
    "gpu_quota": (53, 283),
    "gpu_removal": (68, 361),
    "gpu_repartition": (78, 416),
    "gpu_sharing": (62, 335),
    "gpu_workload": (76, 404),
    "manifests": (40, 231),
    "nfd_labels": (59, 332),
    "node_tuning": (85, 438),
    "olm_operator": (67, 379),
    "operator_upgrade": (141, 819),
    "preflight_update": (76, 411),
    "special_resource": (138, 777),
    "update_pools": (66, 351),
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
