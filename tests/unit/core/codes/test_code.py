# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a code: with the facts of a failure for a terminal, and with their names for the page."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.code import Code

CODE: t.Final = Code(
    "POOL-X",
    "Pool {pool} is wrong.{also}",
    "Set `gpu_x: {a: {pool}}` (module option `x`), or run `oc get pool {pool} -o jsonpath={.status}`.",
)


def test_a_failure_has_its_facts_and_only_commands_in_backticks() -> None:
    found = CODE.filled({"pool": "`p`", "also": " Did you mean q?"})
    assert found.message == "Pool `p` is wrong. Did you mean q?"
    assert found.remedy == (
        "Set gpu_x: {a: `p`} (module option x), or run `oc get pool `p` -o jsonpath={.status}`."
    )


def test_the_page_has_the_names_of_the_facts() -> None:
    assert CODE.general().message == "Pool POOL is wrong."
    assert "`gpu_x: {a: POOL}` (module option `x`)" in CODE.general().remedy


def test_the_page_has_the_words_after_the_bar() -> None:
    code = Code("POOL-X", "Pool p is wrong", "Set {setting|`gpu_x` or `gpu_y`} to {value}.")
    assert code.general().remedy == "Set `gpu_x` or `gpu_y` to VALUE."
    assert code.filled({"setting": "gpu_y", "value": 1}).remedy == "Set gpu_y to 1."
    assert code.names() == {"setting", "value"}


def test_a_missing_fact_is_an_error() -> None:
    assert CODE.names() == {"pool", "also"}
    with pytest.raises(KeyError):
        CODE.filled({"pool": "p"})
