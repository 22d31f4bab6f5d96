"""The smallest data files that are right, to be broken by a test."""

from __future__ import annotations

import copy
import datetime
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._awx import check

Content = dict[str, t.Any]

NOW: t.Final = datetime.datetime(2026, 11, 22, tzinfo=datetime.UTC)
_QUESTION: t.Final = {
    "type": "multiplechoice",
    "variable": "gpu_on_busy",
    "question_name": "Busy?",
    "required": True,
    "choices": ["fail", "drain"],
    "default": "fail",
}
_CONTENT: t.Final[Content] = {
    "controller_organizations": [{"name": "org"}],
    "controller_credential_types": [
        {
            "name": "own",
            "kind": "cloud",
            "inputs": {"fields": [{"id": "hush", "label": "", "secret": True}, {"id": "where", "label": ""}]},
            "injectors": {},
        }
    ],
    "controller_credentials": [{"name": "east", "organization": "org", "credential_type": "own"}],
    "controller_projects": [{"name": "code", "organization": "org", "scm_type": "git", "scm_url": "u"}],
    "controller_inventories": [{"name": "clusters", "organization": "org"}],
    "controller_hosts": [{"name": "one", "inventory": "clusters"}],
    "controller_templates": [
        {
            "name": "enable",
            "organization": "org",
            "project": "code",
            "inventory": "clusters",
            "playbook": "p.yml",
            "ask_credential_on_launch": True,
            "survey_enabled": True,
            "survey_spec": {"name": "s", "description": "", "spec": [_QUESTION]},
        }
    ],
    "controller_workflows": [
        {
            "name": "both",
            "organization": "org",
            "simplified_workflow_nodes": [
                {"identifier": "ask", "approval_node": {"name": "Go on"}, "success_nodes": ["run"]},
                {"identifier": "run", "unified_job_template": "enable", "credentials": ["east"]},
            ],
        }
    ],
    "controller_schedules": [
        {
            "name": "nightly",
            "unified_job_template": "enable",
            "rrule": "DTSTART:20270101T020000Z RRULE:FREQ=DAILY;INTERVAL=1",
            "extra_data": {"gpu_on_busy": "drain"},
        }
    ],
}


def broken(*path: t.Any, value: t.Any) -> Content:
    """Return the content with another value at a path, such as "controller_hosts", 0, "name"."""
    found = copy.deepcopy(_CONTENT)
    place: t.Any = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return found


def right() -> Content:
    """Return the content as it is right."""
    return copy.deepcopy(_CONTENT)


def problems(content: t.Any) -> list[str]:
    """Return what the check finds."""
    return list(check.problems(content, NOW))
