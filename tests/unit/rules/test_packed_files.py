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
    "access_grant": (53, 274),
    "access_review": (45, 245),
    "access_token": (48, 259),
    "gpu_autoscaler": (136, 667),
    "gpu_driver_upgrade": (147, 715),
    "gpu_machine_health": (48, 251),
    "gpu_machineset": (137, 716),
    "gpu_monitoring": (53, 282),
    "gpu_node": (76, 373),
    "gpu_node_repair": (118, 562),
    "gpu_partition": (52, 260),
    "gpu_plan": (118, 569),
    "gpu_preemption": (49, 231),
    "gpu_pull_secret": (61, 285),
    "gpu_queue": (81, 389),
    "gpu_quota": (62, 297),
    "gpu_removal": (73, 341),
    "gpu_repartition": (81, 398),
    "gpu_sharing": (64, 315),
    "gpu_sharing_proof": (74, 355),
    "gpu_use": (52, 264),
    "gpu_workload": (81, 384),
    "manifests": (41, 217),
    "nfd_labels": (60, 313),
    "node_tuning": (89, 410),
    "olm_operator": (70, 354),
    "operator_upgrade": (143, 749),
    "preflight_update": (83, 390),
    "special_resource": (138, 684),
    "update_pools": (69, 326),
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
