# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of pains: its codes exist, and docs/troubles.md has its rows, each of them found."""

from __future__ import annotations

import collections

from documents import troubles

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import SECTIONS
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import LAYERS

ROWS = troubles.rows()


def test_codes_and_layers_exist() -> None:
    codes = {code.code for _title, own in SECTIONS for code in own}
    assert [one["code"] for one in ROWS if one.get("staged") and one["code"] not in codes] == []
    assert [one["layer"] for one in ROWS if one.get("staged") and one["layer"] not in LAYERS] == []


def test_each_pain_is_staged_or_says_why_not() -> None:
    assert [troubles.title(one) for one in ROWS if bool(one.get("staged")) == bool(one.get("no_stage"))] == []
    assert {one["pain"] for one in ROWS} == set(range(1, 34))
    assert [
        title for title, number in collections.Counter(map(troubles.title, ROWS)).items() if number > 1
    ] == []


def test_ten_remedies_are_followed_and_eight_pains_are_common() -> None:
    assert sum(bool(one.get("follow")) for one in ROWS) >= 10
    assert sum(bool(one.get("common")) for one in ROWS) == 8


def test_the_page_has_the_rows_and_all_are_found() -> None:
    page = troubles.read()
    wanted = {
        troubles.title(one): (troubles.how(one), troubles.linked(one["code"]), one["layer"]) for one in ROWS
    }
    found = {title: (cells[2].replace("\\|", "|"), *cells[3:5]) for title, cells in page.items()}
    assert found == wanted, f"docs/troubles.md is out of date: run `{troubles.COMMAND}`"
    told = {troubles.title(one): "yes" if one.get("staged") else "not staged" for one in ROWS}
    assert {title: cells[5] for title, cells in page.items()} == told
