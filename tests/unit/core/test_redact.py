# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text for people: secrets masked, control characters written out, long texts cut in the middle."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core import redact, secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError

CLEAR_SCREEN = "\x1b[2J"


@pytest.mark.parametrize(
    ("text", "readable"),
    [
        ("plain, grün 日本 \U0001f600", "plain, grün 日本 \U0001f600"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("written\r\non Windows", "written\non Windows"),
        (f"{CLEAR_SCREEN}\x1b]0;object_name\x07", r"\x1b[2J\x1b]0;object_name\x07"),
        ("over\rwritten \x7f \x9b31m \x00", r"over\x0dwritten \x7f \x9b31m \x00"),
    ],
)
def test_control_characters_are_written_out(text: str, readable: str) -> None:
    assert redact.clean(text) == readable


def test_a_long_text_keeps_both_ends() -> None:
    cut = redact.line("start" + "x" * 3_000_000 + "end")
    assert len(cut) < redact.LINE + 100
    assert cut.startswith("start")
    assert cut.endswith("end")
    assert "2999008 characters left out" in cut


def test_a_cut_leaves_no_half_of_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_seen", set())
    secrets.register("token-of-test" * 10)
    text = "x" * (redact.LINE * 3 // 4 - 20) + "token-of-test" * 10 + "y" * redact.LINE
    assert "token" not in redact.line(text)


def test_an_error_keeps_its_remedy_however_long_its_message_is() -> None:
    error = AcceleratorError("WAIT-TIMEOUT", "m" * 3_000_000, "Do this.", ["e" * 3_000_000, CLEAR_SCREEN])
    found = error.to_result()
    assert found["msg"].endswith("Remedy: Do this.")
    assert len(str(found)) < 10_000
    assert found["evidence"][1] == r"\x1b[2J"


def test_a_result_is_readable_but_an_object_of_the_api_stays_as_it_is() -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"script": CLEAR_SCREEN}}
    found = redact.result(
        {
            "object": config_map,
            "nodes": [{"message": CLEAR_SCREEN + "n" * 9000}],
            "diff": [{"before": {}, "after": {**config_map, "data": {"x": CLEAR_SCREEN + "d" * 9000}}}],
        }
    )
    assert found["object"] == config_map
    assert found["nodes"][0]["message"].startswith(r"\x1b[2Jnnn")
    assert len(found["nodes"][0]["message"]) < 5100
    assert found["diff"][0]["after"]["data"]["x"] == r"\x1b[2J" + "d" * 9000
