# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reading half of the Api: logs of any size, and answers that no API server gives."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ApiError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import reads


class Kubelet:
    """A server that reads a log as a kubelet does: the first bytes of the last lines."""

    def __init__(self, log: str) -> None:
        self.lines = log.splitlines(keepends=True)
        self.server = FakeServer()
        self.server.request = self.answer
        self.asked: list[int] = []

    def answer(self, method: str, url: str, **more: t.Any) -> Answer:
        self.server.answer(method, url, **more)
        query = self.server.requests[-1][2]
        self.asked.append(int(query["tailLines"]))
        text = "".join(self.lines[-int(query["tailLines"]) :])
        return Answer(200, text[: int(query["limitBytes"])])

    def log(self) -> str:
        return api_on(self.server).log("x", "p", "c")


def test_a_log_is_read_in_one_request_with_a_limit() -> None:
    kubelet = Kubelet("one\ntwo\n")
    assert kubelet.log() == "one\ntwo\n"
    assert kubelet.asked == [200]


def test_a_line_of_3_mb_becomes_a_few_kib_and_does_not_hide_the_last_line() -> None:
    kubelet = Kubelet("first\n" + "x" * 3_000_000 + "\nTest PASSED\n")
    found = kubelet.log()
    assert found.endswith("Test PASSED\n")
    assert kubelet.asked == [200, 10, 1]
    assert len(found) < 5000


def test_a_last_line_of_3_mb_is_cut() -> None:
    found = Kubelet("first\n" + "x" * 3_000_000).log()
    assert len(found) < 2 * reads.LOG_LINE
    assert "characters left out" in found


def test_a_log_has_no_control_characters() -> None:
    assert Kubelet("\x1b[31mred\x1b[0m \x1b]0;t\x07\r\nend\n").log() == "red \\x1b]0;t\\x07\nend\n"


def test_a_log_of_a_kubelet_that_is_away_is_tried_for_as_long_as_the_caller_wants() -> None:
    server, clock = FakeServer("Pod"), FakeClock()
    words = "Get https://10.0.1.9:10250/containerLogs/x/p/c: dial tcp 10.0.1.9:10250: i/o timeout"
    server.request = lambda *_args, **_more: status(500, "InternalError", words)
    start = clock.seconds
    with pytest.raises(ApiError, match="10250"):
        api_on(server, clock).log("x", "p", "c", outage=10.0)
    assert 9 <= clock.seconds - start <= 15


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Authorization: Bearer abcdefgh.ijkl-mnop", "Authorization: Bearer MASK"),
        ("auth failed: password=hunter2, retrying", "auth failed: password=MASK, retrying"),
        ('{"token":"abc-def","x":1}', '{"token":"MASK","x":1}'),
        ("got Basic dXNlcjpwYXNzd29yZA==", "got Basic MASK"),
        ('secret "pull" not found', 'secret "pull" not found'),
        ("Total generated tokens: 128", "Total generated tokens: 128"),
        ("basic checks passed", "basic checks passed"),
    ],
)
def test_a_log_has_no_secrets(line: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_seen", set())  # other tests have secrets such as `secret`
    assert Kubelet(line + "\n").log() == expected.replace("MASK", secrets.MASK) + "\n"
