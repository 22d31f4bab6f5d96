# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label selectors as text."""

from __future__ import annotations

import pytest

from openshift_sandbox.stand_ins.core.selectors import matches_text

LABELS = {"app": "train", "tier": "batch"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "app=train",
        "app == train, tier=batch",
        "app",
        "!zone",
        "app!=web",
        "zone!=a",
        "app in (web, train)",
        "tier notin (web,db),app",
    ],
)
def test_a_text_that_matches(text: str) -> None:
    assert matches_text(text, LABELS)


@pytest.mark.parametrize(
    "text", ["app=web", "zone", "!app", "app!=train", "app in (web)", "app notin (train)", "app=train,zone=a"]
)
def test_a_text_that_does_not_match(text: str) -> None:
    assert not matches_text(text, LABELS)
