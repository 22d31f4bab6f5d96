"""Data files for AWX are refused with the path of each problem, before anything is sent."""

from __future__ import annotations

import typing as t

import pytest
from unit.awx.content import NOW, broken, problems, right

from ansible_collections.accelerators.openshift.plugins.module_utils._awx import check

TEMPLATE = ("controller_templates", 0)
NODE = ("controller_workflows", 0, "simplified_workflow_nodes", 1)
SCHEDULE = ("controller_schedules", 0)
CREDENTIAL = ("controller_credentials", 0)


def test_right_data_has_no_problem() -> None:
    assert problems(right()) == []
    assert check.message(right(), NOW) == ""


def test_the_message_has_the_code_every_path_and_says_that_nothing_was_sent() -> None:
    content = broken(*TEMPLATE, "credentials", value=["west"])
    content["controller_hosts"][0]["inventory"] = "none"
    assert check.message(content, NOW) == (
        "INPUT-AWX: controller_hosts[0].inventory: controller_inventories has no entry none. "
        "controller_templates[0].credentials[0]: controller_credentials has no entry west. "
        "Nothing was sent to AWX."
    )


def test_a_message_about_many_problems_ends() -> None:
    content = right()
    content["controller_hosts"] = [{"name": f"h{number}", "inventory": "none"} for number in range(50)]
    assert check.message(content, NOW).endswith("none. 30 more. Nothing was sent to AWX.")


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        (("controller_jobs",), [], "controller_jobs: is not one of controller_organizations"),
        (("controller_hosts",), {}, "controller_hosts: has to be a list"),
        (("controller_hosts", 0), "east", "controller_hosts[0]: has to be a mapping with the keys name, inv"),
        ((*TEMPLATE, "playbok"), "x", "controller_templates[0].playbok: the playbook knows no such key"),
        ((*TEMPLATE, "playbook"), "", "controller_templates[0].playbook: is missing"),
        ((*TEMPLATE, "credentials"), ["west"], "controller_templates[0].credentials[0]: controller_cred"),
        ((*TEMPLATE, "project"), "other", "controller_templates[0].project: controller_projects has no ent"),
        ((*TEMPLATE, "labels"), ["x"], "controller_templates[0].labels[0]: controller_labels has no entry x"),
        (
            (*TEMPLATE, "notification_templates_error"),
            ["chat"],
            "controller_templates[0].notification_templates_error[0]: controller_notifications has no entry",
        ),
        ((*CREDENTIAL, "credential_type"), "x", "controller_credentials[0].credential_type: controller_cre"),
        ((*CREDENTIAL, "inputs"), {"hush": "s3"}, "controller_credentials[0].inputs.hush: is a secret"),
        (
            (*CREDENTIAL, "inputs"),
            {"bearer_token": "s3"},
            "credentials[0].inputs.bearer_token: is a",
        ),
        ((*NODE, "success_nodes"), ["no"], "nodes[1].success_nodes[0]: the workflow has no node no"),
        ((*NODE, "identifier"), "ask", "nodes[0].identifier: another node has it, too"),
        ((*NODE, "approval_node"), {"name": "x"}, "nodes[1]: needs either unified_job_template or approval"),
        ((*NODE, "unified_job_template"), "x", "nodes[1].unified_job_template: there is no template or work"),
        ((*NODE, "credentials"), ["west"], "nodes[1].credentials[0]: controller_credentials has no entry we"),
        ((*NODE, "limit"), "east", "nodes[1].limit: enable does not ask for it (ask_limit_on_launch)"),
        ((*NODE, "extra_data"), {"gpu_on_busy": "wait"}, "nodes[1].extra_data.gpu_on_busy: 'wait' is not on"),
        ((*SCHEDULE, "extra_data"), {"gpu_on_busy": "no"}, "schedules[0].extra_data.gpu_on_busy: 'no' is no"),
        ((*SCHEDULE, "extra_data"), {"gpu_pools": []}, "schedules[0].extra_data.gpu_pools: enable does not"),
        ((*SCHEDULE, "extra_data"), [], "schedules[0].extra_data: has to be a mapping of variables"),
        ((*SCHEDULE, "unified_job_template"), "x", "schedules[0].unified_job_template: there is no template"),
        ((*SCHEDULE, "rrule"), "FREQ=DAILY", "schedules[0].rrule: 'FREQ=DAILY' needs one DTSTART"),
    ],
)
def test_a_problem_is_named_by_its_path(path: tuple[t.Any, ...], value: t.Any, found: str) -> None:
    lines = problems(broken(*path, value=value))
    assert [line for line in lines if found in line], lines


@pytest.mark.parametrize("content", [None, [], {}])
def test_no_data_is_a_problem(content: t.Any) -> None:
    assert problems(content) == ["the data files have no list such as controller_templates"]


def test_a_name_occurs_once_but_a_host_once_in_each_inventory() -> None:
    content = right()
    content["controller_organizations"] *= 2
    content["controller_inventories"].append({"name": "others", "organization": "org"})
    content["controller_hosts"].append({"name": "one", "inventory": "others"})
    assert problems(content) == ["controller_organizations[1].name: another entry has the name org"]


def test_a_secret_of_a_notification_is_refused() -> None:
    content = right()
    content["controller_notifications"] = [
        {
            "name": "chat",
            "organization": "org",
            "notification_type": "webhook",
            "notification_configuration": {"url": "u", "password": "", "headers": {"Authorization": "x"}},
        }
    ]
    assert problems(content) == [
        "controller_notifications[0].notification_configuration.Authorization: is a secret; set it in AWX"
    ]


def test_what_every_awx_has_needs_no_entry() -> None:
    kind = "OpenShift or Kubernetes API Bearer Token"
    content = broken(*CREDENTIAL, "credential_type", value=kind)
    content["controller_hosts"] = []
    assert problems(content) == []


def test_a_node_may_leave_an_answer_to_the_survey_of_its_workflow() -> None:
    content = right()
    question = content["controller_templates"][0]["survey_spec"]["spec"][0]
    del question["default"]
    lines = problems(content)
    node = "controller_workflows[0].simplified_workflow_nodes[1].extra_data.gpu_on_busy"
    assert lines == [f"{node}: enable requires an answer"]
    content["controller_workflows"][0] |= {
        "survey_enabled": True,
        "survey_spec": {"name": "s", "description": "", "spec": [question]},
    }
    assert problems(content) == []


def test_a_survey_that_is_enabled_has_to_be_there() -> None:
    content = right()
    del content["controller_templates"][0]["survey_spec"]
    assert "controller_templates[0].survey_enabled: there is no survey_spec" in problems(content)
