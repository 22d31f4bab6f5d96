"""The data files of the collection: right, accepted by awx.awx, and equal to what the playbooks take."""

from __future__ import annotations

import functools
import re
import typing as t

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from unit.awx.content import NOW
from unit.awx.test_kinds import ROOT, options
from unit.test_playbooks import NAMES, asked, passed_on, role_variables, run_by, specs, table

from ansible_collections.accelerators.openshift.plugins.module_utils._awx import check, surveys
from ansible_collections.accelerators.openshift.plugins.module_utils._awx.kinds import KINDS, NODE
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.schema import POOL
from ansible_collections.accelerators.openshift.plugins.plugin_utils._inputs import OF_PLAYBOOKS

Data = dict[str, t.Any]

# The first makes the templates, the second the service accounts whose tokens the credentials hold. The third
# writes a file to send away, and the container of a job is deleted.
WITHOUT: t.Final = {"awx_setup", "rbac", "conformance"}
# What an integer may be at least, by the end of its variable's name; wait_timeout: one second for a task.
LEAST: t.Final = {
    "gpu_use_days": 1,
    "gpu_use_idle": 1,
    "_lock_timeout": 0,
    "gpu_idle_max_nodes": 0,
    "_wait_timeout": 1,
    "gpu_replicas": POOL["replicas"].low,
}


class Loader(yaml.SafeLoader):
    """Reads `!unsafe` as plain text."""


Loader.add_constructor("!unsafe", lambda _loader, node: str(node.value))


@functools.cache
def content() -> Data:
    found: Data = {}
    for path in sorted((ROOT / "awx").glob("*.yml")):
        read = yaml.load(path.read_text(), Loader)
        assert not found.keys() & read.keys(), path
        found |= read
    return found


TEMPLATES: t.Final[list[Data]] = content()["controller_templates"]
QUESTIONS: t.Final = [(one, question) for one in TEMPLATES for question in surveys.questions(one)]


def playbook_of(template: Data) -> str:
    found = re.fullmatch(r"playbooks/(\w+)\.yml", template["playbook"])
    assert found
    return found[1]


def test_the_data_is_right_for_years() -> None:
    assert list(check.problems(content(), NOW)) == []
    assert list(check.problems(content(), NOW.replace(year=NOW.year + 20))) == []


@pytest.mark.parametrize("title", KINDS)
def test_awx_awx_accepts_every_entry(title: str) -> None:
    kind = KINDS[title]
    for entry in content().get(title, []):
        given = {key: value for key, value in entry.items() if key != kind.nodes}
        assert ArgumentSpecValidator(options(kind.module)).validate(given).error_messages == []
        for node in entry.get(kind.nodes, []):
            spec = {**options(NODE.module), "workflow_job_template": {}}
            assert ArgumentSpecValidator(spec).validate(node).error_messages == []


def test_every_playbook_has_its_template() -> None:
    assert sorted(map(playbook_of, TEMPLATES)) == sorted(set(NAMES) - WITHOUT)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda one: str(one["name"]))
def test_a_template_names_no_credential_and_runs_on_the_clusters_of_its_inventory(template: Data) -> None:
    """AWX keeps a template's credential beside the one of a launch, if their types differ."""
    assert not template.get("credentials")
    assert template["ask_credential_on_launch"]
    assert template["extra_vars"]["gpu_clusters"] == "all"
    assert template["notification_templates_error"]
    assert {"gpu-reads", "gpu-writes", "gpu-removes"} & set(template["labels"])
    text = (ROOT / template["playbook"]).read_text()
    reads = "gpu-reads" in template["labels"]
    assert reads is ("gpu_lock:" not in text), "a playbook that takes the lease writes"
    assert ("gpu-removes" in template["labels"]) is playbook_of(template).startswith("remove_")


@functools.cache
def choices() -> dict[str, list[str]]:
    """Return the choices of the variables of playbooks, also of those that a module takes as they are."""
    found = [one for name in NAMES for one in passed_on(name)]
    own = {variable: option["choices"] for variable, option in found if option.get("choices")}
    return {
        **own,
        **{variable: option["choices"] for variable, option in OF_PLAYBOOKS.items() if "choices" in option},
    }


def known(playbook: str, variable: str) -> Data:
    """Return type, default (None without one) and choices of a variable, from a role or from the guide."""
    roles = {name: spec for role in run_by(play_of(playbook)) for name, spec in main(role).items()}
    if variable in roles:
        return {"default": None, "choices": None, **roles[variable]}
    (row,) = [one for one in table() if (one["playbook"], one["variable"]) == (playbook, variable)]
    default = None if row["default"] in ("required", "none") else yaml.safe_load(row["default"].strip("`"))
    default = str(default) if default is not None and row["type"] == "str" else default
    return {
        **row,
        "default": default,
        "choices": choices().get(variable),
        "required": row["default"] == "required",
    }


def play_of(playbook: str) -> Data:
    (found,) = yaml.safe_load((ROOT / f"playbooks/{playbook}.yml").read_text())
    return t.cast(Data, found)


def main(role: str) -> Data:
    return t.cast(Data, specs(role)["main"]["options"])


@pytest.mark.parametrize(("template", "question"), QUESTIONS)
def test_a_question_is_what_its_playbook_takes(template: Data, question: Data) -> None:
    playbook, variable = playbook_of(template), question["variable"]
    assert variable in asked(playbook) | role_variables(run_by(play_of(playbook)))
    wanted = known(playbook, variable)
    offered = ["false", "true"] if wanted["type"] == "bool" else wanted["choices"]
    default = str(wanted["default"]).lower() if wanted["type"] == "bool" else wanted["default"]
    assert question["type"] == (
        "multiplechoice" if offered else {"int": "integer"}.get(wanted["type"], "text")
    )
    assert question.get("choices") == offered
    assert question.get("default") == default
    # For a launch by API and for a schedule AWX takes no default for the answer to a required question.
    assert question["required"] is ("default" not in question)
    if question["type"] == "integer":
        (least,) = [low for end, low in LEAST.items() if variable.endswith(end)]
        assert question["min"] == least
        assert question["max"] >= (default or 0)
    if variable == "gpu_replicas":
        assert question["max"] == POOL["replicas"].high


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda one: str(one["name"]))
def test_what_a_playbook_requires_is_asked_for(template: Data) -> None:
    """The pools of a cluster belong to the inventory."""
    playbook = playbook_of(template)
    required = {
        row["variable"] for row in table() if row["playbook"] == playbook and row["default"] == "required"
    }
    assert required - {"gpu_pools"} <= {one["variable"] for one in surveys.questions(template)}


def test_a_person_approves_between_the_plan_and_the_first_write() -> None:
    labels = {one["name"]: one["labels"] for one in TEMPLATES}
    for workflow in content()["controller_workflows"]:
        nodes = {one["identifier"]: one for one in workflow["simplified_workflow_nodes"]}
        assert any("approval_node" in one for one in nodes.values())
        before = {name: {other for other in nodes if name in leads_to(nodes[other])} for name in nodes}
        for name, node in nodes.items():
            if "gpu-reads" not in labels.get(node.get("unified_job_template", ""), ["gpu-reads"]):
                assert before[name]
                assert all("approval_node" in nodes[other] for other in before[name])


def leads_to(node: Data) -> list[str]:
    return [*node.get("success_nodes", []), *node.get("always_nodes", []), *node.get("failure_nodes", [])]
