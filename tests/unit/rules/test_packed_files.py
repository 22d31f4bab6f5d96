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
    "access_review": (41, 244),
    "access_grant": (47, 273),
    "access_token": (44, 259),
    "gpu_autoscaler": (126, 653),
    "gpu_driver_upgrade": (140, 756),
    "gpu_machine_health": (46, 258),
    "gpu_machineset": (126, 710),
    "gpu_node": (70, 378),
    "gpu_node_repair": (108, 563),
    "gpu_plan": (110, 551),
    "gpu_pull_secret": (59, 301),
    "gpu_quota": (52, 275),
    "gpu_removal": (67, 352),
    "gpu_sharing": (60, 330),
    "gpu_workload": (75, 393),
    "manifests": (39, 223),
    "nfd_labels": (58, 324),
    "node_tuning": (83, 415),
    "olm_operator": (66, 370),
    "operator_upgrade": (140, 809),
    "preflight_update": (75, 401),
    "special_resource": (137, 766),
    "update_pools": (63, 323),
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
