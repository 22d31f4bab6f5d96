"""The result of nfd_labels: feature labels, and the comparison of two sets of nodes."""

from __future__ import annotations

import typing as t

import pytest
from unit.nfd.builders import GPU, PCI, expect, instance, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import report


def test_the_summary_shows_feature_labels() -> None:
    facts = report.summarize(
        {"instances": [instance(Available="True")], "nodes": [GPU]}, params(expect=[expect()]), []
    )
    assert facts["available"] is True
    assert facts["nodes"] == [
        {"name": "gpu-0", "labels": {PCI: "true"}, "families": {"pci": {"10de.present": "true"}}}
    ]


@pytest.mark.parametrize(
    ("compare", "words"),
    [
        ({"gpu": {}}, "has 1 sets"),
        ({"gpu": {}, "cpu": {}}, "neither set"),
        ({"gpu": {"selector": {}}, "cpu": {}}, "compare.gpu is"),
        ({"gpu": "a", "cpu": {}}, "compare.gpu is"),
    ],
)
def test_compare_is_checked(compare: dict[str, t.Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        report.check(params(compare=compare))
    assert (caught.value.code, words in caught.value.message) == ("NFD-COMPARE", True)


def test_the_rest_are_workers() -> None:
    control_plane: dict[str, t.Any] = {"node-role.kubernetes.io__control-plane": ""}
    nodes = [GPU, node("cpu-0"), node("master-0", **control_plane)]
    compare = {"gpu": {"nodes": ["gpu-0"]}, "cpu": {}}
    facts = report.summarize({"instances": [], "nodes": nodes}, params(compare=compare), [])
    assert facts["difference"]["sets"] == {"gpu": ["gpu-0"], "cpu": ["cpu-0"]}
    assert [one["kind"] for one in facts["difference"]["labels"]] == ["only gpu"]
    with pytest.raises(InputError):
        report.summarize({"instances": [], "nodes": [GPU]}, params(compare=compare), [])
    foretold = report.summarize(
        {"instances": [], "nodes": [GPU]}, params(compare=compare), [], predicted=True
    )["difference"]
    assert (foretold["labels"], foretold["table"]) == ([], ["compare.cpu finds no node yet."])
