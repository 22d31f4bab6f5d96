# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What report.html says, and that it holds nothing but what it says."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import re
import typing as t

import pytest
from unit.report.runs import Data, after, big, empty, figure, node, program, stack, task, validated

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import seconds
from ansible_collections.accelerators.openshift.plugins.module_utils._report import model, page
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _report

VOID: t.Final = {"meta", "link", "input", "br"}
MARKUP: t.Final = "</script><img src=x onerror=alert(1)>{{ 7 * 7 }}"


class Reader(html.parser.HTMLParser):
    """A reader that notes what elements say, and asserts that each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID and tag not in ("rect", "line"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))


def test_the_page_of_a_run_with_everything() -> None:
    reader = Reader(_report.html(big(12)))
    for words in (
        "enable_gpus on east",
        "9 of 12 nodes of 3 pools are ready; 54 of 63 GPUs passed validation.",
        "GPU-DRV-CRASH",
        "Remedy oc logs -n nvidia-gpu-operator",
        "3 of 6 ready",
        "driver: driver is in CrashLoopBackOff",
        "matmul 62 %",
        "nccl busy",
        "40 values from 393.7",
        "393.7 TFLOPS",
        "9 of 16",
        "p5.48xlarge (us-east-2a, us-east-2b)",
        "Bring the GPU stack to every node of the pools",
    ):
        assert words in reader.text, words
    assert reader.text.count("Copy") >= 2


def test_every_policy_hash_is_that_of_the_pages_own_style_and_script() -> None:
    text = _report.html(big(3))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy
    for tag in ("style", "script"):
        parts = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert len(parts) == 1
        digest = base64.b64encode(hashlib.sha256(parts[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1].replace("&#39;", "'")
    assert policy[1].startswith("default-src 'none'; ")
    reader = Reader(text)
    # A style of an element would break the policy; nothing is loaded from elsewhere.
    assert not [
        attribute
        for attribute in reader.attributes
        if attribute[1] == "style" or attribute[1].startswith("on")
    ]
    links = [value for _tag, name, value in reader.attributes if name in ("href", "src")]
    assert {value[:1] for value in links} <= {"#", "d"}
    assert [value for value in links if value.startswith("d")] == ["data:,"]


def test_markup_and_templates_in_results_stay_text() -> None:
    failed = {"failed": True, "code": MARKUP, "message": MARKUP, "remedy": MARKUP, "evidence": [MARKUP]}
    result = {**stack([node(MARKUP)], name=MARKUP), **failed, "warnings": [MARKUP]}
    report = after(empty(), "special_resource", result, task=MARKUP, object=MARKUP, role=MARKUP)
    programs = [
        program(
            1.0, name=MARKUP, figures=[figure(1.0, name=MARKUP, unit=MARKUP, device=MARKUP, source=MARKUP)]
        )
    ]
    nodes = [validated(MARKUP, programs=programs, pool=MARKUP, busy=MARKUP)]
    report = after(report, "gpu_workload", {"workload": {"nodes": nodes}}, seconds=2)
    text = _report.html(report)
    assert "<img" not in text
    assert text.count("</script>") == 1
    assert "49" not in re.findall(r"\b49\b", Reader(text).text)
    assert MARKUP in Reader(text).text


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (
            model.begun(empty(), task("gpu_machineset", task="request | Ask for machines")),
            "The task 'Ask for machines' began at 10:00:00 UTC",
        ),
        (after(empty(), "manifests", {"changed": True}), "1 task ran. No result has nodes with GPUs."),
        (after(empty(), "special_resource", stack([node("gpu-0")])), "1 of 1 node of 1 pool are ready."),
    ],
    ids=["running", "no nodes", "not validated"],
)
def test_the_headline(report: Data, words: str) -> None:
    assert words in Reader(_report.html(report)).text


def test_a_check_shows_what_a_run_would_write() -> None:
    foreseen = [
        {"action": "change", "object": "Quota a", "fields": ["spec.hard"]},
        {"action": "keep", "object": "Quota b", "fields": []},
    ]
    checked = after(empty(check_mode=True), "gpu_quota", {"foreseen": foreseen, "changed": True})
    reader = Reader(_report.html(checked))
    assert "Check mode: nothing was written" in reader.text
    assert "A run would write 1 object." in reader.text
    assert "Quota a change spec.hard" in reader.text
    assert "Quota b" not in reader.text


def test_many_findings_of_one_code_are_one_card() -> None:
    nodes = [
        validated(
            f"gpu-{number}", programs=[program(1.0, "failed", code="WORK-LOW", message=f"slow {number}")]
        )
        for number in range(30)
    ]
    report = after(empty(), "gpu_workload", {"workload": {"nodes": nodes}})
    groups = page.by_code(report["findings"])
    assert [(group["code"], [len(part) for part in group["parts"]]) for group in groups] == [
        ("WORK-LOW", [5, 25])
    ]


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (41.2, "41 s"), (200, "3 min 20 s"), (3900, "1 h 5 min")],
)
def test_times_as_people_read_them(number: float, text: str) -> None:
    assert seconds(number) == text


@pytest.mark.parametrize(
    ("value", "text"), [(6.0349, "6.035"), (612.34, "612.3"), (12345.6, "12,346"), (0, "0")]
)
def test_figures_have_four_digits(value: float, text: str) -> None:
    assert page.rounded(value) == text


def test_a_figure_without_expectation_and_one_of_zero() -> None:
    bare = program(
        0, figures=[figure(0.0, expected=None, baseline=None), figure(5.0, expected=0, baseline=None)]
    )
    report = after(empty(), "gpu_workload", {"workload": {"nodes": [validated("gpu-0", programs=[bare])]}})
    (found,) = page.figures(report["nodes"])
    assert [(row["value"], row["ratio"]) for row in found["bars"]] == [(0.0, None), (5.0, None)]
    Reader(_report.html(report))
