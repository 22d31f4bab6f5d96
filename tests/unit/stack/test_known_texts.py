# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of known texts against the corpus: each text has its code, and near misses stay unknown."""

from __future__ import annotations

import re
from typing import Any

import pytest
from documents import known_texts as page

from ansible_collections.accelerators.openshift.plugins.module_utils._stack import known_texts, signatures

KNOWN, UNKNOWN = page.corpus("known"), page.corpus("unknown")
ROWS = (*known_texts.SIGNATURES, *known_texts.PULLS)
PLACES = {
    known_texts.BUILD,
    known_texts.CRIO,
    known_texts.DRIVER,
    known_texts.EVENT,
    known_texts.KERNEL,
    known_texts.OPERAND,
    known_texts.OPERATOR,
    known_texts.VALIDATOR,
    known_texts.WEBHOOK,
    known_texts.WORKLOAD,
}


def names(texts: list[dict[str, Any]]) -> list[str]:
    return [f"{number}-{one['text'][:40]}" for number, one in enumerate(texts)]


@pytest.mark.parametrize("one", KNOWN, ids=names(KNOWN))
def test_a_known_text_is_recognised_in_its_place_and_in_the_middle_of_a_log(one: dict[str, Any]) -> None:
    log = f"I1121 starting\n{one['text']}\nexiting\n"
    found = signatures.recognise(log, page.table(one))
    assert found is not None
    assert found.code == one["code"]
    assert one.get("says", "") in found.meaning
    assert found.remedy
    assert signatures.recognise(log, page.table(one), one["place"]) == found
    assert signatures.spoken(found, log) in map(str.strip, log.splitlines())
    assert one["source"].startswith("https://")


@pytest.mark.parametrize("one", UNKNOWN, ids=names(UNKNOWN))
def test_a_near_miss_stays_unknown(one: dict[str, Any]) -> None:
    found = signatures.recognise(f"I1121 starting\n{one['text']}\nexiting\n", place=one.get("place", ""))
    assert found is None, found


def test_the_corpus_is_large_enough_and_has_no_text_twice() -> None:
    assert sum(not one.get("form") for one in KNOWN) >= 80
    assert len(UNKNOWN) >= 40
    texts = [one["text"] for one in (*KNOWN, *UNKNOWN) if "place" not in one or one in KNOWN]
    assert len(texts) == len(set(texts))


def test_every_row_has_a_text_in_the_corpus() -> None:
    first = {signatures.recognise(one["text"], page.table(one)) for one in KNOWN}
    assert [row.pattern for row in ROWS if signatures.with_text(row) not in first] == []


def test_every_row_says_where_its_text_stands_and_who_reported_it() -> None:
    assert [row.pattern for row in ROWS if not row.where or set(row.where) - PLACES] == []
    assert [row.pattern for row in ROWS if not row.source.startswith("https://")] == []


REPLACES = re.compile(r"driver\.(?:version|kernel_module_type)|driver_change")


def test_only_a_text_that_proves_it_leads_to_another_driver_on_the_nodes() -> None:
    rows = [signatures.with_text(row) for row in known_texts.SIGNATURES]
    assert {row.code for row in rows if REPLACES.search(row.remedy)} == {
        "GPU-DRV-BRANCH",
        "GPU-DRV-BUILD",
        "GPU-DRV-CUDA",
        "GPU-DRV-FLAVOR",
    }


@pytest.mark.parametrize("one", ROWS, ids=lambda one: str(one.pattern)[:30])
def test_a_remedy_names_what_it_is_about(one: known_texts.Signature) -> None:
    one = signatures.with_text(one)
    told = one.advice(node="gpu-7", pod="driver-x", namespace="nvidia-gpu-operator")
    assert told
    assert not re.search(r"\b(POD|NODE|NAMESPACE)\b|[{](node|pod|namespace)[}]", told)
    needed = set(re.findall(r"[{](node|pod|namespace)[}]", one.remedy))
    assert not needed or one.advice("otherwise") == "otherwise"


def test_the_page_shows_the_table() -> None:
    assert page.PAGE.read_text() == page.page(), f"docs/known-texts.md is out of date: run `{page.COMMAND}`"
