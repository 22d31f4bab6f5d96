# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""resize_pool.yml runs the module of the role gpu_node_pool, so it reads the variables that messages name."""

from __future__ import annotations

import ast
import re
import typing as t

import pytest
from unit.rules.role_tasks import read_by
from unit.rules.test_layers import FILES
from unit.rules.test_remedies import role_options
from unit.rules.test_remedies_said import texts

OTHERWISE: t.Final = {
    "gpu_node_pool_approve_csrs": "the same message names gpu_approve_csrs for this playbook",
    "gpu_node_pool_on_scaled": "the playbook always takes the number of its user",
}


def said() -> list[str]:
    """Return the variables of the role that messages about machines name."""
    found = {
        name
        for path, file in FILES.items()
        if path.startswith("_machines/")
        for text in texts(ast.parse(file.read_text()))
        for name in re.findall(r"gpu_node_pool_[a-z_]+", text)
    }
    return sorted(found & role_options())


@pytest.mark.parametrize("variable", said())
def test_the_variable_reaches_the_module_in_this_playbook_too(variable: str) -> None:
    places = {one.where for one in read_by(variable) if one.module == "gpu_machineset"}
    assert "gpu_node_pool" in places
    assert ("resize_pool" in places) is (variable not in OTHERWISE)
