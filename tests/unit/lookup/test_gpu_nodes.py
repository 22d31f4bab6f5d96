"""The lookup of live GPU nodes, on nodes that are handed in."""

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleLookupError

from ansible_collections.accelerators.openshift.plugins.lookup import gpu_nodes, node_labels
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    CredentialsError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.expression import Expression
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import devices

Data = dict[str, t.Any]


def node(labels: dict[str, str] | None = None, allocatable: Data | None = None) -> Data:
    return {
        "metadata": {
            "name": "n",
            "labels": {key.replace("__", "/"): value for key, value in (labels or {}).items()},
        },
        "spec": {"unschedulable": True},
        "status": {"allocatable": allocatable or {}, "conditions": [{"type": "Ready", "status": "True"}]},
    }


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (node(), False),
        (node({"accelerators.openshift/pool": "t4"}), True),
        (node({"feature.node.kubernetes.io/pci-10de.present": "true"}), True),
        (node({"nvidia.com/gpu.present": "false"}), False),
        (node(allocatable={"nvidia.com/gpu": "1"}), True),
        (node(allocatable={"cpu": "1"}), False),
    ],
)
def test_which_nodes_are_gpu_nodes(one: Data, found: bool) -> None:
    assert devices.is_gpu_node(one) is found


def test_summary() -> None:
    marks = {
        "accelerators.openshift/pool": "t4",
        "node.kubernetes.io/instance-type": "g4dn.xlarge",
        "nvidia.com/gpu.product": "Tesla-T4",
    }
    found = gpu_nodes.summary(node(marks, {"nvidia.com/gpu": "2", "cpu": "4"}), with_labels=False)
    assert (
        found
        | {
            "pool": "t4",
            "instance_type": "g4dn.xlarge",
            "model": "Tesla-T4",
            "allocatable": {"nvidia.com/gpu": 2},
        }
        == found
    )
    assert (found["ready"], found["schedulable"]) == (True, False)
    assert "labels" not in found
    assert gpu_nodes.summary(node(marks), with_labels=True)["labels"] == {
        key.replace("__", "/"): value for key, value in marks.items()
    }


@pytest.mark.parametrize(
    ("query", "result"),
    [("[].name", ["a", "b"]), ("[0].name", ["a"]), ("[?name=='c']", []), ("[0].nothing", [])],
)
def test_queries(query: str, result: list[str]) -> None:
    assert gpu_nodes.searched(Expression("query", query), [{"name": "a"}, {"name": "b"}]) == result


@pytest.mark.parametrize(
    ("query", "words"),
    [("[?", "is no JMESPath"), ("nothing(@)", "Unknown function: nothing()"), ("sum([].name)", "sum()")],
)
def test_a_query_that_cannot_be_answered_is_no_empty_answer(query: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        gpu_nodes.searched(Expression("query", query), [{"name": "a"}])
    assert caught.value.code == "INPUT-JMESPATH"
    assert words in caught.value.message


@pytest.mark.parametrize("lookup", [gpu_nodes, node_labels])
def test_a_misspelt_option_is_refused_and_an_alias_is_none(
    lookup: t.Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(_options: Data, **_more: t.Any) -> t.NoReturn:
        asked.append("credentials")
        raise CredentialsError("CRED-NONE", "There are no credentials.", "Set kubeconfig.")

    monkeypatch.setattr(credentials, "connect", refuse)
    module = lookup.LookupModule()
    monkeypatch.setattr(module, "set_options", lambda **_options: None)
    names = ("pool", "query", "labels", "label_selector", "validate_certs")
    monkeypatch.setattr(module, "get_options", lambda: dict.fromkeys(names))
    with pytest.raises(AnsibleLookupError, match=r"INPUT-OPTION: .*Did you mean label_selector\?"):
        module.run([], {}, label_selektor="a=b")
    assert asked == []
    with pytest.raises(AnsibleLookupError, match="CRED-NONE"):
        module.run([], {}, verify_ssl=False)


@pytest.mark.parametrize("lookup", [gpu_nodes, node_labels])
@pytest.mark.parametrize(("variables", "remedy"), [({"awx_job_id": 7}, "Launch the job"), ({}, "kubeconfig")])
def test_a_job_of_awx_gets_its_own_remedy(
    lookup: t.Any, variables: Data, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_options: Data, **_more: t.Any) -> t.NoReturn:
        raise CredentialsError("CRED-NONE", "There are no credentials.", "Set kubeconfig.")

    monkeypatch.setattr(credentials, "connect", refuse)
    module = lookup.LookupModule()
    monkeypatch.setattr(module, "set_options", lambda **_options: None)
    options = {"pool": None, "query": None, "labels": False, "label_selector": None}
    monkeypatch.setattr(module, "get_options", options.copy)
    with pytest.raises(AnsibleLookupError, match=remedy):
        module.run([], variables)
