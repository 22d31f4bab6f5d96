# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX 24.6.1 refuses with 400, beyond missing fields and links that lead nowhere.

Stands in for the checks of AWX's serializers, models and views. AWX checks more, such as rights, and renders
the messages of notifications.
"""

from __future__ import annotations

import json
import re
import typing as t
import urllib.parse

import dateutil.rrule
import yaml
from awx_api.fields import CHOICES, ENDPOINTS, LEAST, LENGTHS, NUMBERS, Data

QUESTIONS: t.Final[dict[str, type | tuple[type, ...]]] = {
    "text": str,
    "textarea": str,
    "password": str,
    "multiplechoice": str,
    "multiselect": str,
    "integer": int,
    "float": (float, int),
}
_CHOOSES: t.Final = ("multiplechoice", "multiselect")
# What a node or a schedule may set, and the switch of the template that has to allow it.
PROMPTS: t.Final = {
    **{
        name: f"ask_{name}_on_launch"
        for name in (
            *("diff_mode", "execution_environment", "forks", "inventory", "job_slice_count", "job_type"),
            *("limit", "scm_branch", "skip_tags", "timeout", "verbosity"),
        )
    },
    "job_tags": "ask_tags_on_launch",
}
_SCHEMES: t.Final = {
    "git": ("ssh", "git", "git+ssh", "http", "https", "ftp", "ftps", "file"),
    "svn": ("http", "https", "svn", "svn+ssh", "file"),
    "insights": ("http", "https"),
    "archive": ("http", "https"),
}
_DOMAIN: t.Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_PART: t.Final = r"[a-z0-9]+(?:(?:[_.]|__|-+)[a-z0-9]+)*"
_IMAGE: t.Final = re.compile(
    rf"(?:{_DOMAIN}(?:\.{_DOMAIN})*(?::[0-9]+)?/)?{_PART}(?:/{_PART})*"
    r"(?::\w[\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)


class RefusalError(Exception):
    """An answer with the status 400 and this body."""

    def __init__(self, **body: t.Any) -> None:
        super().__init__(json.dumps(body))
        self.body = body


def field(collection: str, name: str, value: t.Any) -> None:
    """Refuse a value of a field that has another type, or is out of its range."""
    default = ENDPOINTS[collection].fields[name]
    if value is None:
        if default is not None and not isinstance(default, dict):
            raise RefusalError(**{name: ["This field may not be null."]})
        return
    if name in NUMBERS:
        _number(name, value)
    elif isinstance(default, bool):
        _switch(name, value)
    elif isinstance(default, str) and not isinstance(value, str | int | float):
        raise RefusalError(**{name: ["Not a valid string."]})
    if name in LENGTHS and len(str(value)) > LENGTHS[name]:
        raise RefusalError(**{name: [f"Ensure this field has no more than {LENGTHS[name]} characters."]})
    choices = CHOICES.get((collection, name), CHOICES.get(("", name)))
    if choices is not None and value != "" and str(value) not in map(str, choices):
        raise RefusalError(**{name: [f'"{value}" is not a valid choice.']})


def _number(name: str, value: t.Any) -> None:
    if isinstance(value, bool) or not re.fullmatch(r"-?[0-9]+", str(value)):
        raise RefusalError(**{name: ["A valid integer is required."]})
    if name in LEAST and int(value) < LEAST[name]:
        raise RefusalError(**{name: [f"Ensure this value is greater than or equal to {LEAST[name]}."]})
    if int(value) > 2147483647:
        raise RefusalError(**{name: ["Ensure this value is less than or equal to 2147483647."]})
    # The setting MAX_FORKS, as AWX is installed.
    if name == "forks" and int(value) > 200:
        raise RefusalError(**{name: ["Maximum number of forks (200) exceeded."]})


def _switch(name: str, value: t.Any) -> None:
    known = ("t", "y", "yes", "true", "on", "1", "f", "n", "no", "false", "off", "0")
    if not isinstance(value, bool) and str(value).lower() not in known:
        raise RefusalError(**{name: ["Must be a valid boolean."]})


def variables(value: t.Any, name: str) -> None:
    """Refuse text that is neither a JSON nor a YAML mapping."""
    if not isinstance(value, str):
        raise RefusalError(**{name: ["Not a valid string."]})
    if value and not isinstance(yaml.safe_load(value), dict):
        raise RefusalError(**{name: ["Cannot parse as JSON or YAML."]})


def survey(spec: t.Any) -> None:
    """Refuse a survey as the view JobTemplateSurveySpec does."""
    for name, kind in {"name": str, "description": str, "spec": list}.items():
        if name not in spec:
            raise RefusalError(error=f"Field '{name}' is missing from survey spec.")
        if not isinstance(spec[name], kind):
            label = "list of items" if kind is list else "string"
            found = type(spec[name]).__name__
            raise RefusalError(error=f"Expected {label} for field '{name}', received {found} type.")
    if not spec["spec"]:
        raise RefusalError(error="'spec' doesn't contain any items.")
    seen: set[str] = set()
    for number, question in enumerate(spec["spec"]):
        if not isinstance(question, dict):
            raise RefusalError(error=f"Survey question {number} is not a json object.")
        _question(number, question)
        if question["variable"] in seen:
            raise RefusalError(
                error=f"'variable' '{question['variable']}' duplicated in survey question {number}."
            )
        seen.add(question["variable"])


def _question(number: int, question: Data) -> None:
    for name in ("type", "question_name", "variable", "required"):
        kind, label = (bool, "boolean") if name == "required" else (str, "string")
        if name not in question:
            raise RefusalError(error=f"'{name}' missing from survey question {number}")
        if not isinstance(question[name], kind):
            raise RefusalError(error=f"'{name}' in survey question {number} expected to be {label}.")
    kind = question["type"]
    if kind not in QUESTIONS:
        allowed = f"is not one of '{', '.join(QUESTIONS)}' allowed question types."
        raise RefusalError(error=f"'{kind}' in survey question {number} {allowed}")
    default = question.get("default", "")
    if default != "" and not isinstance(default, QUESTIONS[kind]):
        label = kind if kind in ("integer", "float") else "string"
        raise RefusalError(
            error=f"Default value {default} in survey question {number} expected to be {label}."
        )
    for key in ("min", "max"):
        if question.get(key) is not None and not isinstance(question[key], int):
            raise RefusalError(error=f"The {key} limit in survey question {number} expected to be integer.")
    if kind in _CHOOSES:
        _choices(number, question, [one for one in str(default).splitlines() if one.strip()])


def _choices(number: int, question: Data, defaults: list[str]) -> None:
    if "choices" not in question:
        raise RefusalError(error=f"Survey question {number} of type {question['type']} must specify choices.")
    if question["type"] == "multiplechoice" and len(defaults) > 1:
        raise RefusalError(error="Multiple Choice (Single Select) can only have one default value.")
    if any(one not in question["choices"] for one in defaults):
        raise RefusalError(error="Default choice must be answered from the choices listed.")


def answers(questions: list[Data], given: Data, required: bool) -> list[str]:
    """Return why AWX refuses answers. A default is no answer. required: whether an answer may be missing."""
    return [wrong for one in questions for wrong in _answer(one, given, required)]


def _answer(question: Data, given: Data, required: bool) -> list[str]:
    variable, kind = question["variable"], question["type"]
    if variable not in given:
        return [f"'{variable}' value missing"] if question["required"] and required else []
    value = given[variable]
    if kind in _CHOOSES:
        listed = question["choices"]
        listed = [one for one in listed.splitlines() if one.strip()] if isinstance(listed, str) else listed
        if kind == "multiselect" and not isinstance(value, list):
            return [f"'{variable}' value is expected to be a list."]
        return [
            f"Value {one} for '{variable}' expected to be one of {listed}."
            for one in (value if kind == "multiselect" else [value])
            if one not in listed
        ]
    kinds: dict[str, tuple[tuple[type, ...], str]] = {
        "integer": ((int,), "an integer"),
        "float": ((float, int), "a numeric type"),
    }
    allowed, label = kinds.get(kind, ((str,), "a string"))
    if type(value) not in allowed:
        return [f"Value {value} for '{variable}' expected to be {label}."]
    return _limits(question, value)


def _limits(question: Data, value: t.Any) -> list[str]:
    variable, low, high = question["variable"], question.get("min"), question.get("max")
    size = len(value) if isinstance(value, str) else value
    is_length = f"length is {size} " if isinstance(value, str) else ""
    found = []
    if low not in ("", None) and size < low:
        found.append(f"'{variable}' value {value} is too small ({is_length}must be at least {low}).")
    if high not in ("", None) and size > high:
        found.append(f"'{variable}' value {value} is too large (must be no more than {high}).")
    return found


def prompts(template: Data, questions: list[Data], given: Data, exempt: t.Collection[str] = ()) -> None:
    """Refuse answers and prompts of a launch, a schedule or a node.

    exempt: "required" as for the nodes of a workflow, "prompts" as for launches of a job template, which
    ignore what the template does not ask for.
    """
    errors: Data = {}
    found = given.get("extra_data") or {}
    if wrong := answers(questions, found, "required" not in exempt):
        errors["variables_needed_to_start"] = wrong
    asked = {one["variable"] for one in questions}
    own = yaml.safe_load(template["extra_vars"] or "{}")
    odd = [key for key, value in found.items() if key not in asked and (key, value) not in own.items()]
    if odd and not template["ask_variables_on_launch"] and "prompts" not in exempt:
        kind = "Job Template" if "playbook" in template else "Workflow Job Template"
        errors["extra_data"] = [
            f"Variables {', '.join(odd)} are not allowed on launch. Check the Prompt on Launch setting on "
            f"the {kind} to include Extra Variables."
        ]
    for name, switch in PROMPTS.items():
        value = given.get(name)
        if value in (None, template.get(name)) or template.get(switch) or "prompts" in exempt:
            continue
        errors[name] = ["Field is not configured to prompt on launch."]
    if errors:
        raise RefusalError(**errors)


def rrule(text: str) -> None:
    """Refuse a rule as SchedulePreviewSerializer does."""
    problems = []
    starts = re.findall(r"DTSTART(?:;[^:]+)?:[0-9]+T[0-9]+Z?", text)
    if not starts:
        problems.append("Valid DTSTART required in rrule. Value should start with: DTSTART:YYYYMMDDTHHMMSSZ")
    if re.search(r"DTSTART:[0-9]+T[0-9]+ ", text):
        problems.append("DTSTART cannot be a naive datetime.  Specify ;TZINFO= or YYYYMMDDTHHMMSSZZ.")
    if len(starts) > 1:
        problems.append("Multiple DTSTART is not supported.")
    if "rrule:" not in text.lower():
        problems.append("One or more rule required in rrule.")
    for name in ("EXDATE", "RDATE"):
        if f"{name.lower()}:" in text.lower():
            raise RefusalError(rrule=[f"{name} not allowed in rrule."])
    for rule in re.findall(r"RULE:\S*", text):
        problems += [f"{wrong}: {rule}" for wrong in _rule(rule)]
    if wrong := _parsing(text):
        problems.append(f"rrule parsing failed validation: {wrong}")
    if problems:
        raise RefusalError(rrule=problems)


def _parsing(text: str) -> str:
    if len(re.findall(r"until=", text, re.IGNORECASE)) != len(re.findall(r"UNTIL=[0-9]+T[0-9]+", text)):
        return "'NoneType' object has no attribute 'group'"
    # AWX reads an UNTIL without Z in the zone of DTSTART.
    text = re.sub(r"(UNTIL=[0-9]+T[0-9]+)(?![0-9Z])", r"\1Z", text)
    try:
        found = dateutil.rrule.rrulestr("\n".join(text.split()), forceset=True)
    except (ValueError, AttributeError, TypeError) as exc:
        return str(exc)
    is_naive = any(one._dtstart.tzinfo is None for one in found._rrule)
    return "A valid TZID must be provided (e.g., America/New_York)" if is_naive else ""


def _rule(rule: str) -> t.Iterator[str]:
    if "interval" not in rule.lower():
        yield "INTERVAL required in rrule"
    elif "secondly" in rule.lower():
        yield "SECONDLY is not supported"
    if re.search(r"BYDAY[:=][0-9]+[a-zA-Z]{2}", rule):
        yield "BYDAY with numeric prefix not supported"
    if "COUNT" in rule and "UNTIL" in rule:
        yield "RRULE may not contain both COUNT and UNTIL"
    count = re.search(r"COUNT=([0-9]+)", rule)
    if count and int(count[1]) > 999:
        yield "COUNT > 999 is unsupported"


def image(name: str) -> None:
    """Refuse what is no reference of a container image."""
    if not _IMAGE.fullmatch(name):
        raise RefusalError(image=[f"The container image name {name} is not valid"])


def host(name: str) -> None:
    """Refuse a port behind a host's name that is none."""
    _name, colon, port = name.partition(":")
    if colon and ":" not in port and not (port.isdigit() and 1 <= int(port) <= 65535):
        raise RefusalError(name=[f"Invalid port specification: {port}"])


def project(whole: Data, credential_kind: str) -> None:
    """Refuse an address that the type of the repository does not have, and a credential of another kind."""
    kind = whole["scm_type"]
    if not kind:
        return
    if whole["scm_branch"] and kind == "archive":
        raise RefusalError(scm_branch=["SCM branch cannot be used with archive projects."])
    if not whole["scm_url"].strip() and kind != "insights":
        raise RefusalError(scm_url=["SCM URL is required."])
    if wrong := _address(kind, whole["scm_url"].strip()):
        raise RefusalError(scm_url=[wrong])
    if credential_kind and credential_kind != ("insights" if kind == "insights" else "scm"):
        raise RefusalError(credential=["Credential kind must be 'scm'."])


def _address(kind: str, url: str) -> str:
    if "://" not in url and kind == "git":
        # git@host:path, or the path of a folder
        far, colon, path = url.rpartition("@")[2].partition(":")
        url = f"git+ssh://{far}/{path}" if colon else f"file:///{url.lstrip('/')}"
        if ":" in path:
            return "Invalid git URL"
    elif url.startswith("git+ssh"):
        return f"Unsupported {kind} URL"
    try:
        parts = urllib.parse.urlsplit(url)
        _ = parts.port
    except ValueError:
        return f"Invalid {kind} URL"
    if "://" not in url:
        return f"Invalid {kind} URL"
    if parts.scheme not in _SCHEMES[kind]:
        return f"Unsupported {kind} URL"
    if parts.scheme == "file" and parts.netloc not in ("", "localhost"):
        return f'Unsupported host "{parts.netloc}" for file:// URL'
    return "" if parts.netloc or parts.scheme == "file" else f"Host is required for {parts.scheme} URL"
