"""A filter says what it reads where its input is something else, and not what Python says."""

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.accelerators.openshift.plugins.filter import (
    awx_problems,
    feature_file,
    gpu_drift_report,
    gpu_plan_report,
    gpu_table,
    label_difference,
)

FILTERS: t.Final = {
    name: function
    for module in (awx_problems, feature_file, gpu_drift_report, gpu_plan_report, gpu_table, label_difference)
    for name, function in module.FilterModule().filters().items()
}
OF_PYTHON: t.Final = ("object", "NoneType", "subscriptable", "positional", "'int'", "indices", "attribute")


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("gpu_table", (5,), "cannot read its input (a number)"),
        ("gpu_table", (None,), "cannot read its input (nothing)"),
        ("gpu_table", ([{"pool": "a"}],), "the input has no name"),
        ("gpu_table", ([{"name": "a"}], "text"), "(a list of 1, text)"),
        ("gpu_table", ({"pools": []},), "(a mapping with pools)"),
        ("gpu_plan_report", ({"pools": []},), "missing a required argument: 'steps'"),
        ("gpu_plan_report", ({}, {}), "the input has no pools"),
        ("gpu_plan_report", ({"pools": 5}, {}), "(a mapping with pools, a mapping with no key)"),
        ("gpu_plan_report", ({"pools": []}, ["x"]), "(a mapping with pools, a list of 1)"),
        ("gpu_drift_report", (5, {}), "cannot read its input (a number, a mapping with no key)"),
        ("label_difference", ([],), "missing a required argument: 'other'"),
        ("label_difference", (5, 6), "every node needs name and labels"),
        ("feature_file", (), "missing a required argument: 'features'"),
        ("awx_problems", (), "missing a required argument: 'content'"),
        ("awx_problems", ({}, 5), "(a mapping with no key, a number)"),
    ],
)
def test_wrong_input_is_named(name: str, given: tuple[t.Any, ...], found: str) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        FILTERS[name](*given)
    text = str(caught.value)
    assert text.startswith(f"{name}: ")
    assert found in text
    assert not [word for word in OF_PYTHON if word in text]
    # Ansible appends the message of a cause.
    assert caught.value.__cause__ is None
