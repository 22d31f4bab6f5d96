# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user reads about each pull secret."""

from __future__ import annotations

import typing as t

import pytest
from unit.pull_secret.builders import DRIVER, NEW, OLD, SPACE, auths, secret

from ansible_collections.accelerators.openshift.plugins.module_utils._pull_secret import judge, result
from ansible_collections.accelerators.openshift.plugins.module_utils._pull_secret.uses import Used
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.image import (
    NOT_ASKED,
    THERE,
    Answer,
)

FIELD: t.Final = "ClusterPolicy p: spec.driver.imagePullSecrets"
USED: t.Final = Used(SPACE, "ngc", (FIELD,), ("a", "b"), ("b",), (DRIVER,))
TITLE: t.Final = f"Secret {SPACE}/ngc"


def test_the_lines_of_a_secret_that_is_replaced() -> None:
    one = judge.rotation(USED, secret(OLD), auths(NEW))
    assert result.lines(one, {DRIVER: Answer(DRIVER, THERE)}) == [
        f"{TITLE} is replaced in place: nvcr.io",
        f"  named by {FIELD}",
        "  used by 2 pods, which all go on",
        "  waits for its image, and tries again by itself: b",
        f"  {DRIVER}: the new pull secret can pull it",
    ]


def test_the_entry_of_the_result() -> None:
    one = judge.rotation(USED, secret(OLD, "nvcr.io", "quay.io"), auths(NEW))
    answers = {TITLE: {DRIVER: Answer(DRIVER, NOT_ASKED, words="no right")}}
    found = result.build([one], answers)
    (entry,) = found["pull_secrets"]
    assert (entry["dropped"], entry["waiting"], entry["verified"]) == (["quay.io"], ["b"], [])
    assert entry["unverified"] == [{"image": DRIVER, "why": "no right"}]
    assert f"  {DRIVER}: not asked: no right" in found["table"]


@pytest.mark.parametrize(("live", "words"), [(None, "is created"), (secret(NEW), "has this content already")])
def test_what_happens_to_the_secret(live: t.Any, words: str) -> None:
    assert f"{TITLE} {words}" in result.lines(judge.rotation(USED, live, auths(NEW)), {})[0]
