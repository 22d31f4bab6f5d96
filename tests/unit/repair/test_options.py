# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wishes that are refused before anything is read."""

from __future__ import annotations

import typing as t

import pytest
from unit.repair.node_in_memory import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._repair import options


def test_the_defaults_are_fine() -> None:
    options.check(params())


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        ({"repair": "reset"}, "REPAIR-RESET", "repair: "),
        ({"wait": False}, "INPUT-VALUE", "wait: "),
        ({"reboot_image": "https://r.io/tools:1"}, "INPUT-IMAGE", "reboot_image "),
        ({"validation": {"image": "r.io/x:1:2"}}, "INPUT-IMAGE", "validation.image "),
        ({"validation": {"repeat": True}}, "INPUT-OPTION", "validation.repeat: "),
    ],
)
def test_a_refusal_names_the_option(given: dict[str, t.Any], code: str, path: str) -> None:
    with pytest.raises(AcceleratorError) as caught:
        options.check(params(**given))
    assert caught.value.code == code
    assert caught.value.message.startswith(path)
