"""The option `tuning` of a pool: keys, types, and one form for what can be written in several."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problem, Problems
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import schema


def read(value: t.Any) -> tuple[schema.Given, list[Problem]]:
    problems = Problems()
    return schema.read(value, "tuning", problems), problems.found


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"profile": "training"}, {"profile": "training"}),
        ({"profile": "x", "defer": "yes"}, {"profile": "x", "defer": True}),
        ({"sysctl": {"a.b": 1, "c.d": "4096  87380\t1"}}, {"sysctl": {"a.b": "1", "c.d": "4096 87380 1"}}),
        ({"isolate": True}, {"isolate": True}),
        ({"isolate": "true"}, {"isolate": True}),
        ({"isolate": {"reserved": "0-3", "isolated": None}}, {"isolate": {"reserved": "0-3"}}),
        ({"huge_pages": {"size": "1G", "count": "16"}}, {"huge_pages": [{"size": "1G", "count": 16}]}),
        ({"huge_pages": [], "profile": "x"}, {"profile": "x", "huge_pages": []}),
        ({"topology": "single-numa-node"}, {"topology": "single-numa-node"}),
        ({"kernel_arguments": ["iommu=pt"]}, {"kernel_arguments": ["iommu=pt"]}),
    ],
)
def test_one_form_for_each_key(value: t.Any, wanted: schema.Given) -> None:
    assert read(value) == (wanted, [])
    assert read(wanted) == (wanted, [])


@pytest.mark.parametrize(
    ("value", "code", "path"),
    [
        ("training", "POOL-TYPE", "tuning"),
        ([], "POOL-TYPE", "tuning"),
        ({}, "POOL-EMPTY", "tuning"),
        ({"reboot": "planned", "defer": True}, "POOL-EMPTY", "tuning"),
        ({"profil": "training"}, "POOL-UNKNOWN-KEY", "tuning.profil"),
        ({"profile": "Training"}, "POOL-VALUE", "tuning.profile"),
        ({"sysctl": ["a"]}, "POOL-TYPE", "tuning.sysctl"),
        ({"sysctl": {"a.b": True}}, "POOL-TYPE", "tuning.sysctl.a.b"),
        ({"isolate": 4}, "POOL-TYPE", "tuning.isolate"),
        ({"isolate": "some"}, "POOL-TYPE", "tuning.isolate"),
        ({"isolate": {"isolated": "1-3"}}, "POOL-REQUIRED", "tuning.isolate.reserved"),
        ({"huge_pages": 16}, "POOL-TYPE", "tuning.huge_pages"),
        ({"huge_pages": {"size": "1g", "count": 1}}, "POOL-VALUE", "tuning.huge_pages.size"),
        ({"huge_pages": [{"size": "1G", "count": 0}]}, "POOL-VALUE", "tuning.huge_pages[0].count"),
        ({"topology": "strict"}, "POOL-VALUE", "tuning.topology"),
        ({"reboot": "now", "profile": "x"}, "POOL-VALUE", "tuning.reboot"),
    ],
)
def test_what_is_wrong_is_named(value: t.Any, code: str, path: str) -> None:
    _found, problems = read(value)
    assert [(one.code, one.path) for one in problems] == [(code, path)]
    assert problems[0].remedy


def test_a_text_shows_how_to_write_it() -> None:
    (problem,) = read("training")[1]
    assert problem.remedy == "Write {profile: training}."


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ({"sysctl": {"vm": {"swappiness": 10}}}, "Write the whole name: vm.swappiness."),
        (
            {"sysctl": {"net.ipv4.tcp_rmem": [4096, 87380, 1]}},
            'Put the numbers in quotes: "4096 87380 1".',
        ),
        ({"sysctl": {"vm.swappiness": None}}, "Give a whole number, or text in quotes."),
        ({"profile": "x", "reboot": True}, "Allowed: never, planned."),
    ],
)
def test_the_remedy_is_what_the_user_has_to_write(value: t.Any, remedy: str) -> None:
    (problem,) = read(value)[1]
    assert problem.remedy == remedy
