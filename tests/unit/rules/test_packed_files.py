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
    "access_grant": (52, 290),
    "access_review": (44, 261),
    "access_token": (47, 275),
    "gpu_autoscaler": (134, 700),
    "gpu_driver_upgrade": (143, 774),
    "gpu_machine_health": (47, 267),
    "gpu_machineset": (142, 774),
    "gpu_monitoring": (53, 300),
    "gpu_node": (73, 392),
    "gpu_node_repair": (113, 585),
    "gpu_partition": (56, 306),
    "gpu_plan": (117, 596),
    "gpu_preemption": (50, 290),
    "gpu_pull_secret": (60, 312),
    "gpu_queue": (71, 371),
    "gpu_quota": (53, 283),
    "gpu_removal": (69, 363),
    "gpu_repartition": (79, 419),
    "gpu_sharing": (63, 337),
    "gpu_use": (52, 282),
    "gpu_workload": (77, 406),
    "manifests": (40, 232),
    "nfd_labels": (59, 333),
    "node_tuning": (86, 439),
    "olm_operator": (68, 380),
    "operator_upgrade": (142, 821),
    "preflight_update": (77, 414),
    "special_resource": (139, 779),
    "update_pools": (67, 353),
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
