# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX's API refuses, as its stand-in says it, is found in the data files before, and nothing else is."""

from __future__ import annotations

import json
import typing as t

import pytest
from awx_api.checks import RefusalError
from awx_api.fields import ENDPOINTS
from awx_api.store import Store
from unit.awx.content import broken, problems, right
from unit.awx.test_shipped_data import content as shipped

from ansible_collections.accelerators.openshift.plugins.module_utils._awx import forms

Data = dict[str, t.Any]

_LINKS: t.Final = ("success_nodes", "failure_nodes", "always_nodes")
_COLLECTIONS: t.Final = {
    "controller_organizations": "organizations",
    "controller_labels": "labels",
    "controller_execution_environments": "execution_environments",
    "controller_credential_types": "credential_types",
    "controller_credentials": "credentials",
    "controller_notifications": "notification_templates",
    "controller_projects": "projects",
    "controller_inventories": "inventories",
    "controller_inventory_sources": "inventory_sources",
    "controller_hosts": "hosts",
    "controller_templates": "job_templates",
    "controller_workflows": "workflow_job_templates",
    "controller_schedules": "schedules",
}


class Import:
    """Sends data files to the stand-in, as the modules of awx.awx do. store: what it has then."""

    def __init__(self, content: Data) -> None:
        playbooks = {str(one.get("playbook")) for one in content.get("controller_templates", [])}
        self.store = Store(playbooks)
        for object_name, collection in _COLLECTIONS.items():
            for entry in content.get(object_name, []):
                self._make(collection, entry)

    def find(self, name: str, *collections: str) -> int:
        """Return the id of an object."""
        places = ("job_templates", "workflow_job_templates", "projects", "inventory_sources")
        for one in places if collections == ("unified_job_templates",) else collections:
            for found in self.store.find(one, {"name": name}):
                return int(found["id"])
        raise LookupError(name)

    def _make(self, collection: str, entry: Data) -> int:
        kind = ENDPOINTS[collection]
        fields: Data = {}
        several: dict[str, list[str]] = {}
        for key, value in entry.items():
            if key in kind.links:
                fields[key] = value if isinstance(value, int) else self.find(value, kind.links[key])
            elif key in kind.lists and key not in _LINKS:
                several[key] = value if isinstance(value, list) else [value]
            elif key in ("variables", "extra_vars"):
                fields[key] = json.dumps(value)
            else:
                fields[key] = value
        number = int(self.store.create(collection, fields)["id"])
        for key, names in several.items():
            for name in names:
                self.store.associate(collection, number, key, {"id": self.find(name, kind.lists[key])})
        if entry.get("survey_spec"):
            self.store.set_survey(number, entry["survey_spec"])
        self._nodes(number, entry.get("simplified_workflow_nodes", []))
        return number

    def _nodes(self, workflow: int, nodes: list[Data]) -> None:
        made = {}
        for node in nodes:
            given = {key: value for key, value in node.items() if key not in (*_LINKS, "approval_node")}
            number = self._make("workflow_job_template_nodes", {**given, "workflow_job_template": workflow})
            made[node["identifier"]] = number
            if "approval_node" in node:
                self.store.approval(number, node["approval_node"])
        for node in nodes:
            for link in _LINKS:
                for other in forms.readable(node).get(link, []):
                    ids = made[node["identifier"]], {"id": made[other]}
                    self.store.associate("workflow_job_template_nodes", ids[0], link, ids[1])


def test_the_shipped_data_imports_and_every_template_launches_without_optional_answers() -> None:
    made = Import(shipped())
    for collection in ("job_templates", "workflow_job_templates"):
        for template in made.store.find(collection, {}):
            spec = made.store.survey(template["id"]).get("spec", [])
            needed = {one["variable"]: sample(one) for one in spec if "default" not in one}
            job = made.store.launch(collection, template["id"], {"extra_vars": needed})
            assert {one["variable"] for one in spec} <= job["extra_vars"].keys()


def sample(question: Data) -> t.Any:
    return question["min"] if question["type"] == "integer" else "x" * question["min"]


TEMPLATE = ("controller_templates", 0)
QUESTION = (*TEMPLATE, "survey_spec", "spec", 0)
NODE = ("controller_workflows", 0, "simplified_workflow_nodes", 1)
SCHEDULE = ("controller_schedules", 0)
TYPE = ("controller_credential_types", 0)
START = "DTSTART:20270101T020000Z"
DAILY = "RRULE:FREQ=DAILY;INTERVAL=1"
NUMBER = {"type": "integer", "variable": "n", "question_name": "N?", "required": False, "min": 1, "max": 9}


def notification(kind: str, messages: t.Any = None, **given: t.Any) -> list[Data]:
    entry = {"name": "n", "organization": "org", "notification_type": kind}
    return [{**entry, "notification_configuration": given, **({"messages": messages} if messages else {})}]


def asking(question: Data) -> list[Data]:
    """Return templates of which the first asks one question more."""
    found = right()["controller_templates"]
    found[0]["survey_spec"]["spec"].append(question)
    return t.cast(list[Data], found)


REFUSED: t.Final[list[tuple[tuple[t.Any, ...], t.Any, str, str]]] = [
    # Schedules and nodes.
    ((*SCHEDULE, "extra_data"), {}, "'gpu_on_busy' value missing", "enable requires an answer"),
    ((*SCHEDULE, "extra_data"), {"gpu_on_busy": "wait"}, "expected to be one of", "'wait' is not one of"),
    ((*NODE, "extra_data"), {"gpu_on_busy": "wait"}, "expected to be one of", "'wait' is not one of"),
    ((*NODE, "extra_data"), {"gpu_on_busy": 1}, "expected to be one of", "1 is not text"),
    ((*NODE, "extra_data"), {"gpu_pools": []}, "gpu_pools are not allowed on launch", "does not ask for it"),
    ((*NODE, "limit"), "east", "not configured to prompt", "does not ask for it (ask_limit_on_launch)"),
    ((*SCHEDULE, "forks"), 5, "not configured to prompt", "no such key"),
    ((*SCHEDULE, "job_type"), "check", "not configured to prompt", "no such key"),
    ((*NODE, "credentials"), ["east", "east2"], "already provides a own credential", "is of the type own"),
    ((*NODE, "success_nodes"), ["ask"], "Cycle detected", "the ways from ask lead back to it"),
    ((*NODE, "always_nodes"), ["run"], "Cycle detected", "the ways from run lead back to it"),
    ((*NODE[:-1], 0, "failure_nodes"), ["run"], "Relationship not allowed", "run follows the node already"),
    ((*NODE[:-1], 0, "approval_node"), {"name": "a", "timeout": "1h"}, "valid integer", "a whole number"),
    # Rules of schedules.
    ((*SCHEDULE, "rrule"), f"DTSTART:20270101T020000 {DAILY}", "cannot be a naive", "nor a Z at its end"),
    ((*SCHEDULE, "rrule"), f"{START} {DAILY};BYDAY=1MO", "numeric prefix", "write BYDAY=MO;BYSETPOS=1"),
    ((*SCHEDULE, "rrule"), f"{START} {DAILY};COUNT=1000", "COUNT > 999", "from 1 to 999"),
    ((*SCHEDULE, "rrule"), f"{START} {DAILY};BYDAY=MONDAY", "parsing failed", "not days such as MO,TU"),
    ((*SCHEDULE, "rrule"), f"{START} {DAILY};BYNOON=1", "parsing failed", "no rule has the part BYNOON"),
    ((*SCHEDULE, "rrule"), f"{START} {DAILY} EXRULE:FREQ=DAILY", "INTERVAL required", "requires an INTERVAL"),
    ((*SCHEDULE, "rrule"), f"{START} {DAILY};UNTIL=20279901T000000Z", "parsing failed", "not a time such as"),
    ((*SCHEDULE, "rrule"), f"DTSTART;TZID=UTC:20270101T020000Z {DAILY}", "parsing failed", "TZID and a Z"),
    # Templates and their surveys.
    ((*TEMPLATE, "forks"), -1, "greater than or equal to 0", "a whole number of 0 or more"),
    ((*TEMPLATE, "verbosity"), 9, "is not a valid choice", "a whole number from 0 to 5"),
    ((*TEMPLATE, "timeout"), "soon", "valid integer", "a whole number"),
    ((*TEMPLATE, "job_slice_count"), -2, "greater than or equal", "a whole number of 0 or more"),
    ((*TEMPLATE, "job_type"), "scan", "is not a valid choice", "one of run, check"),
    ((*TEMPLATE, "name"), "n" * 513, "no more than 512", "at most 512 characters"),
    ((*TEMPLATE, "name"), " ", "not be blank", "is missing"),
    ((*TEMPLATE, "diff_mode"), "maybe", "valid boolean", "true or false"),
    ((*TEMPLATE, "credentials"), ["east", "east2"], "multiple own", "is of the type own, too"),
    ((*TEMPLATE, "credentials"), ["code"], "of kind `scm`", "takes none of the type Source Control"),
    ((*QUESTION, "default"), "fail\ndrain", "only have one default", "has to be one choice"),
    ((*QUESTION, "default"), ["fail"], "expected to be string", "is not text"),
    ((*QUESTION, "default"), None, "expected to be string", "is not text"),
    ((*QUESTION, "default"), "wait", "answered from the choices", "is not one of"),
    ((*TEMPLATE, "survey_spec", "description"), 5, "Expected string for field", "has to be text"),
    # Types of credentials, and credentials.
    ((*TYPE, "kind"), "ssh", "Must be 'cloud' or 'net'", "one of cloud, net"),
    ((*TYPE, "inputs", "fields", 0), {"id": "x"}, "'label' is a required", "label: is missing"),
    ((*TYPE, "inputs", "fields", 0), {"id": "2x", "label": "l"}, "does not match", "the name of a field"),
    (
        (*TYPE, "inputs", "fields", 0),
        {"id": "where", "label": "l"},
        "must be unique",
        "another field is where",
    ),
    ((*TYPE, "inputs", "fields", 0, "type"), "int", "is not one of", "int is not one of string, boolean"),
    ((*TYPE, "inputs", "fields", 0, "type"), "boolean", "secret not allowed", "a boolean has none"),
    ((*TYPE, "inputs", "fields", 0, "default"), True, "is not a string", "True is not text"),
    ((*TYPE, "inputs", "fields", 0, "ask_at_runtime"), True, "is not supported", "only in its own types"),
    ((*TYPE, "injectors"), {"env": {"A": "{{ no }}"}}, "undefined field ('no'", "'no' is undefined"),
    ((*TYPE, "injectors"), {"env": {"A": "{{ where"}}, "Syntax error", "env.A: "),
    ((*TYPE, "injectors"), {"env": {"ANSIBLE_FORKS": "1"}}, "may affect Ansible", "no credential set it"),
    ((*TYPE, "injectors"), {"env": {"PATH": "1"}}, "is not allowed to be used", "no credential set it"),
    ((*TYPE, "injectors"), {"env": {"A-B": "1"}}, "does not match", "is no name of a variable"),
    ((*TYPE, "injectors"), {"env": {"A": "{{ tower.filename }}"}}, "unnamed file", "file: {template: ...}"),
    ((*TYPE, "injectors"), {"extra_vars": {"a": "{{ tower.filename.x }}"}}, "undefined", "no attribute 'x'"),
    (
        (*TYPE, "injectors"),
        {"extra_vars": {"a": ["{{ no }}"]}},
        "a[0] uses an undef",
        "extra_vars.a[0]: 'no'",
    ),
    ((*TYPE, "injectors"), {"file": {"kubeconfig": "x"}}, "does not match", "template, or template.NAME"),
    ((*TYPE, "injectors"), {"file": {"template": "x", "template.b": "y"}}, "multi-file", "several files"),
    ((*TYPE, "injectors"), {"files": {}}, "'files' was unexpected", "is not one of file, env, extra_vars"),
    (("controller_credentials", 0, "inputs"), {"where": 5}, "is not of type 'string'", "5 is not text"),
    (("controller_credentials", 0, "inputs"), {"there": "x"}, "was unexpected", "has no such field"),
    (("controller_credentials", 2, "inputs"), {"verify_ssl": "no"}, "type 'boolean'", "not true or false"),
    # Notifications.
    (("controller_notifications",), notification("webhook", url="u"), "['headers']", "headers: is missing"),
    (
        ("controller_notifications",),
        notification("webhook", url="u", headers={}, http_method="GET"),
        "either 'POST' or 'PUT'",
        "GET is not one of POST, PUT",
    ),
    (
        ("controller_notifications",),
        notification("webhook", url="u", headers={}, disable_ssl_verification="no"),
        "incorrect type, expected bool",
        "has to be true or false, not 'no'",
    ),
    (("controller_notifications",), notification("slack", channels=["a"]), "['token']", 'write token: ""'),
    (
        ("controller_notifications",),
        notification("slack", token="", channels=[]),
        "No values",
        "at least one",
    ),
    (("controller_notifications",), notification("pager"), "is not a valid choice", "one of awssns, email"),
    (
        ("controller_notifications",),
        notification("slack", {"failed": {}}, token="", channels=["a"]),
        "Event 'failed' invalid",
        "messages.failed: is not one of",
    ),
    # Projects, inventories, hosts and images.
    (("controller_projects", 0, "scm_url"), " ", "URL is required", "scm_url: is missing"),
    (("controller_projects", 0, "scm_url"), "htps://x/y.git", "Unsupported git URL", "begins with ssh://"),
    (("controller_projects", 0, "scm_url"), "https:///y.git", "Host is required", "has no host"),
    (("controller_projects", 0, "scm_type"), "hg", "is not a valid choice", "one of git, svn"),
    (("controller_projects", 0, "credential"), "east", "must be 'scm'", "one of the type Source Control"),
    (("controller_execution_environments", 0, "image"), "my image:1", "is not valid", "is no image"),
    (("controller_execution_environments", 0, "image"), "https://q.io/a", "is not valid", "is no image"),
    (("controller_execution_environments", 0, "pull"), "sometimes", "valid choice", "one of always, missing"),
    (("controller_hosts", 0, "name"), "east:99999", "Invalid port", "a number from 1 to 65535"),
    (("controller_hosts", 0, "name"), "east:api", "Invalid port", "a number from 1 to 65535"),
    (
        ("controller_inventory_sources",),
        [{"name": "s", "inventory": "clusters", "organization": "org", "source": "scm"}],
        "Project required",
        "source_project: is missing",
    ),
]
TAKEN: t.Final[list[tuple[tuple[t.Any, ...], t.Any]]] = [
    ((*NODE, "extra_data"), {}),
    ((*NODE, "inventory"), "clusters"),
    ((*SCHEDULE, "rrule"), f"{START} RRULE:FREQ=MONTHLY;INTERVAL=1;BYDAY=-1FR"),
    ((*SCHEDULE, "rrule"), f"{START} rrule:freq=daily;interval=1"),
    ((*SCHEDULE, "rrule"), f"DTSTART;TZID=Europe/Berlin:20270101T020000 {DAILY};UNTIL=20280101T000000"),
    ((*TEMPLATE, "timeout"), -1),
    ((*TEMPLATE, "forks"), "5"),
    ((*TEMPLATE, "job_slice_count"), 0),
    (TEMPLATE[:1], asking({**NUMBER, "type": "float", "default": 1})),
    (TEMPLATE[:1], asking({**NUMBER, "type": "multiselect", "choices": ["a", "b"], "default": "a\nb"})),
    (TEMPLATE[:1], asking({**NUMBER, "new_question": True})),
    ((*TYPE, "injectors"), {"file": {"template": "{{ where }}"}, "env": {"A": "{{ tower.filename }}"}}),
    ((*TYPE, "injectors"), {"extra_vars": {"a": {"b": ["{{ where | default('x') }}"]}}}),
    (("controller_notifications",), notification("slack", token="", channels=["gpu"])),
    (("controller_notifications",), notification("slack", token="$encrypted$", channels=["gpu"])),
    (("controller_notifications",), notification("webhook", url="u", headers={}, http_method="put")),
    (("controller_projects", 0, "scm_url"), "git@github.com:org/repo.git"),
    (("controller_projects", 0, "scm_url"), "ssh://git@host:7999/repo.git"),
    (("controller_projects", 0, "credential"), "code"),
    (("controller_execution_environments", 0, "image"), "localhost:5000/gpu/ee@sha256:" + "0" * 64),
    (("controller_hosts", 0, "name"), "east:6443"),
    (("controller_hosts", 0, "name"), "fd00::1"),
]


def content_with(path: tuple[t.Any, ...], value: t.Any) -> Data:
    """Return the right content with more kinds of entries, and with another value at a path."""
    found = broken("controller_execution_environments", value=[{"name": "ee", "image": "q.io/a"}])
    found["controller_credentials"] += [
        {"name": "east2", "organization": "org", "credential_type": "own"},
        {
            "name": "api",
            "organization": "org",
            "credential_type": "OpenShift or Kubernetes API Bearer Token",
        },
        {"name": "code", "organization": "org", "credential_type": "Source Control"},
    ]
    place: t.Any = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return found


@pytest.mark.parametrize(("path", "value", "answer", "found"), REFUSED)
def test_what_awx_refuses_is_found_before(
    path: tuple[t.Any, ...], value: t.Any, answer: str, found: str
) -> None:
    content = content_with(path, value)
    with pytest.raises(RefusalError) as refused:
        Import(content)
    assert answer in " ".join(map(str, refused.value.body.values()))
    assert [line for line in problems(content) if found in line], problems(content)


@pytest.mark.parametrize(("path", "value"), TAKEN)
def test_what_awx_takes_is_not_refused(path: tuple[t.Any, ...], value: t.Any) -> None:
    content = content_with(path, value)
    Import(content)
    assert problems(content) == []


def test_a_launch_needs_every_required_answer_and_refuses_a_wrong_one() -> None:
    made = Import(right())
    number = made.find("enable", "job_templates")
    for answers, wrong in (
        ({}, ["'gpu_on_busy' value missing"]),
        ({"gpu_on_busy": "wait"}, ["Value wait for 'gpu_on_busy' expected to be one of ['fail', 'drain']."]),
    ):
        with pytest.raises(RefusalError) as refused:
            made.store.launch("job_templates", number, {"extra_vars": answers})
        assert refused.value.body == {"variables_needed_to_start": wrong}
    # A launch ignores what its template does not ask for.
    job = made.store.launch("job_templates", number, {"extra_vars": {"gpu_on_busy": "fail"}, "limit": "east"})
    assert job["extra_vars"] == {"gpu_on_busy": "fail"}


def test_text_and_mappings_that_ansible_has_marked_are_text_and_mappings() -> None:
    """Since ansible-core 2.19 what a file holds are subclasses of Python's types."""
    assert problems(marked(shipped())) == []


class Text(str):
    __slots__ = ()


class Mapping(dict[str, t.Any]):
    pass


class Several(list[t.Any]):
    pass


def marked(value: t.Any) -> t.Any:
    if isinstance(value, dict):
        return Mapping({Text(key): marked(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return Several(map(marked, value))
    return Text(value) if isinstance(value, str) else value
