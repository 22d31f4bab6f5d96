# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX 24.6.1 refuses with 400, beyond missing fields and links that lead nowhere.

Stands in for the checks of AWX's serializers and of its view of surveys. AWX checks more, such as rights.
"""

from __future__ import annotations

import json
import re
import typing as t

import dateutil.rrule
import yaml

Data = dict[str, t.Any]

QUESTIONS: t.Final[dict[str, type | tuple[type, ...]]] = {
    "text": str,
    "textarea": str,
    "password": str,
    "multiplechoice": str,
    "multiselect": str,
    "integer": int,
    "float": float,
}
_WEBHOOK: t.Final[Data] = {
    "http_method": "POST",
    "disable_ssl_verification": False,
    "username": "",
    "password": "",
}


class RefusalError(Exception):
    """An answer with the status 400 and this body."""

    def __init__(self, **body: t.Any) -> None:
        super().__init__(json.dumps(body))
        self.body = body


def variables(value: t.Any, field: str) -> None:
    """Refuse text that is neither a JSON nor a YAML mapping."""
    if not isinstance(value, str):
        raise RefusalError(**{field: ["Not a valid string."]})
    if value and not isinstance(yaml.safe_load(value), dict):
        raise RefusalError(**{field: ["Cannot parse as JSON or YAML."]})


def survey(spec: t.Any) -> None:
    """Refuse a survey as the view JobTemplateSurveySpec does."""
    for field, kind in {"name": str, "description": str, "spec": list}.items():
        if not isinstance(spec.get(field), kind):
            raise RefusalError(error=f"Field '{field}' is missing from survey spec.")
    if not spec["spec"]:
        raise RefusalError(error="'spec' doesn't contain any items.")
    seen: set[str] = set()
    for number, question in enumerate(spec["spec"]):
        _question(number, question)
        if question["variable"] in seen:
            raise RefusalError(error=f"'variable' duplicated in survey question {number}.")
        seen.add(question["variable"])


def _question(number: int, question: Data) -> None:
    kinds = {"type": str, "question_name": str, "variable": str, "required": bool}
    for field, kind in kinds.items():
        if not isinstance(question.get(field), kind):
            raise RefusalError(error=f"'{field}' missing from survey question {number}")
    if question["type"] not in QUESTIONS:
        raise RefusalError(error=f"'{question['type']}' in survey question {number} is not allowed")
    default = question.get("default", "")
    if default != "" and not isinstance(default, QUESTIONS[question["type"]]):
        raise RefusalError(error=f"Default value {default} in survey question {number} has another type.")
    for key in ("min", "max"):
        if question.get(key) is not None and not isinstance(question[key], int):
            raise RefusalError(error=f"The {key} limit in survey question {number} expected to be integer.")
    if question["type"] in ("multiplechoice", "multiselect"):
        if "choices" not in question:
            raise RefusalError(error=f"Survey question {number} must specify choices.")
        if any(one not in question["choices"] for one in str(default).splitlines()):
            raise RefusalError(error="Default choice must be answered from the choices listed.")


def prompts(template: Data, spec: Data, given: Data) -> None:
    """Refuse what a node or a schedule sets and its template does not ask for."""
    questions = (
        {one["variable"]: one for one in spec.get("spec", [])} if template.get("survey_enabled") else {}
    )
    for variable, answer in given["extra_data"].items():
        question = questions.get(variable)
        if question is None and not template.get("ask_variables_on_launch"):
            raise RefusalError(extra_data=[f"Variables {variable} are not allowed on launch."])
        if question and question["type"] == "multiplechoice" and answer not in question["choices"]:
            raise RefusalError(variables_needed_to_start=[f"Value {answer} for '{variable}' is no choice."])
        if (
            question
            and question["type"] == "integer"
            and (isinstance(answer, bool) or not isinstance(answer, int))
        ):
            raise RefusalError(variables_needed_to_start=[f"Value {answer} is not an integer."])
    for field in ("inventory", "limit"):
        if given.get(field) and not template.get(f"ask_{field}_on_launch"):
            raise RefusalError(**{field: ["Field is not configured to prompt on launch."]})


def rrule(text: str) -> None:
    """Refuse a rule as SchedulePreviewSerializer does."""
    problems = []
    if len(re.findall(r"DTSTART(?:;[^:]+)?:[0-9]+T[0-9]+Z?", text)) != 1:
        problems.append("Valid DTSTART required in rrule.")
    if "rrule:" not in text.lower():
        problems.append("One or more rule required in rrule.")
    for rule in re.findall(r"RULE:(\S*)", text):
        if "interval" not in rule.lower():
            problems.append("INTERVAL required in rrule")
        if "secondly" in rule.lower():
            problems.append("SECONDLY is not supported")
        if "COUNT" in rule and "UNTIL" in rule:
            problems.append("RRULE may not contain both COUNT and UNTIL")
    try:
        dateutil.rrule.rrulestr("\n".join(text.split()), forceset=True)
    except ValueError as exc:
        problems.append(f"rrule parsing failed validation: {exc}")
    if problems:
        raise RefusalError(rrule=problems)


def notification(kind: str, given: Data) -> Data:
    """Return the configuration with AWX's defaults; refuse one with a missing key. Knows webhooks only."""
    if kind != "webhook":
        raise RefusalError(notification_type=[f'"{kind}" is not known to this stand-in.'])
    if missing := [key for key in ("url", "headers") if key not in given]:
        fields = ", ".join(missing)
        raise RefusalError(
            notification_configuration=[f"Missing required fields for Notification Configuration: {fields}."]
        )
    return {**_WEBHOOK, **given}


def inputs(fields: list[Data], given: Data) -> None:
    """Refuse inputs that the credential's type does not have."""
    known = {field["id"] for field in fields}
    for name in given:
        if name not in known:
            raise RefusalError(inputs=[f"Additional properties are not allowed ('{name}' was unexpected)"])


def injectors(given: Data) -> None:
    """Refuse injectors of a kind that AWX does not have."""
    if not isinstance(given, dict) or given.keys() - {"file", "env", "extra_vars"}:
        raise RefusalError(injectors=["Schema validation failed."])
