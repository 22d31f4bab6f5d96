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
    "access_grant": (55, 279),
    "access_review": (45, 247),
    "access_token": (49, 262),
    "gpu_autoscaler": (141, 687),
    "gpu_driver_upgrade": (149, 718),
    "gpu_machine_health": (49, 252),
    "gpu_machineset": (144, 740),
    "gpu_monitoring": (53, 282),
    "gpu_node": (84, 410),
    "gpu_node_repair": (124, 593),
    "gpu_partition": (53, 260),
    "gpu_plan": (123, 591),
    "gpu_preemption": (49, 230),
    "gpu_pull_secret": (61, 283),
    "gpu_queue": (91, 414),
    "gpu_quota": (64, 299),
    "gpu_removal": (77, 348),
    "gpu_repartition": (89, 432),
    "gpu_sharing": (72, 351),
    "gpu_sharing_proof": (85, 408),
    "gpu_use": (52, 264),
    "gpu_workload": (81, 382),
    "manifests": (41, 216),
    "nfd_labels": (61, 314),
    "node_tuning": (90, 410),
    "olm_operator": (70, 353),
    "operator_upgrade": (144, 749),
    "preflight_update": (83, 388),
    "special_resource": (139, 684),
    "update_pools": (70, 326),
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
