# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Surveys of templates, and the answers that schedules and workflows give to them."""

from __future__ import annotations

import typing as t

Data = t.Mapping[str, t.Any]
Lines = t.Iterator[str]

# The types of a question, and the types of Python that an answer may have.
TYPES: t.Final[dict[str, tuple[type, ...]]] = {
    "text": (str,),
    "textarea": (str,),
    "password": (str,),
    "integer": (int,),
    "float": (int, float),
    "multiplechoice": (str,),
    "multiselect": (list,),
}
_CHOOSES: t.Final = ("multiplechoice", "multiselect")
_KEYS: t.Final = {
    *("type", "variable", "required", "question_name", "question_description"),
    *("choices", "default", "min", "max"),
    # The page of AWX adds these; they have no meaning.
    *("new_question", "formattedChoices"),
}


def questions(entry: Data) -> list[Data]:
    """Return the questions of a template's or workflow's survey; none if it has none or disables it.

    It leaves out questions that AWX would refuse.
    """
    spec = entry.get("survey_spec")
    found = spec.get("spec") if isinstance(spec, dict) and entry.get("survey_enabled") else None
    return [item for item in found if not any(_of_question(item, ""))] if isinstance(found, list) else []


def problems(spec: t.Any, path: str) -> Lines:
    """Yield what is wrong with a survey, each line with its path."""
    if not isinstance(spec, dict) or not isinstance(spec.get("spec"), list) or not spec["spec"]:
        yield f"{path}: has no list of questions in spec"
        return
    for key in ("name", "description"):
        if not isinstance(spec.get(key), str):
            yield f"{path}.{key}: has to be text, which may be empty"
    seen: set[str] = set()
    for number, question in enumerate(spec["spec"]):
        here = f"{path}.spec[{number}]"
        yield from _of_question(question, here)
        variable = question.get("variable") if isinstance(question, dict) else None
        if str(variable) in seen:
            yield f"{here}.variable: another question asks for {variable}"
        seen.add(str(variable))


def _of_question(question: t.Any, path: str) -> Lines:
    if not isinstance(question, dict):
        yield f"{path}: has to be a question with type, variable, question_name and required"
        return
    for key in sorted(map(str, question.keys() - _KEYS)):
        yield f"{path}.{key}: no question has this key"
    for key in ("question_name", "variable"):
        if not isinstance(question.get(key), str) or not question[key]:
            yield f"{path}.{key}: has to be text"
    if not isinstance(question.get("required"), bool):
        yield f"{path}.required: has to be true or false"
    if str(question.get("type")) not in TYPES:
        yield f"{path}.type: {question.get('type')} is not one of {', '.join(TYPES)}"
        return
    if wrong := _wrong_choices(question):
        yield f"{path}.choices: {wrong}"
        return
    for key in ("min", "max"):
        if not isinstance(question.get(key), int | None):
            yield f"{path}.{key}: has to be a whole number"
            return
    if "default" in question and question["default"] != "":
        yield from _of_default(question, f"{path}.default")


def _of_default(question: Data, path: str) -> Lines:
    """Yield why AWX would refuse a default. The one of a choice is text, with a line for each choice."""
    default = question["default"]
    if question["type"] not in _CHOOSES:
        yield from against(question, default, path)
    elif not isinstance(default, str):
        how = ", with a line for each choice" if question["type"] == "multiselect" else ""
        yield f"{path}: {default!r} is not text{how}"
    elif question["type"] == "multiplechoice" and len(default.splitlines()) > 1:
        yield f"{path}: has to be one choice"
    else:
        yield from _chosen(question, default.splitlines(), path)


def _chosen(question: Data, given: t.Iterable[t.Any], path: str) -> Lines:
    for choice in given:
        if choice not in choices(question):
            yield f"{path}: {choice!r} is not one of {', '.join(choices(question))}"


def _wrong_choices(question: Data) -> str:
    """Return what is wrong with the choices of a question, or an empty text."""
    if not isinstance(question.get("choices") or [], str | list):
        return "has to be a list of choices"
    found = choices(question)
    if question["type"] in _CHOOSES and not found:
        return "has no choice"
    return "" if all(isinstance(text, str) for text in found) else 'each choice has to be text, such as "1"'


def choices(question: Data) -> list[str]:
    """Return the choices of a question, which may stand in one text, one on each line."""
    found = question.get("choices") or []
    return [line for line in found.splitlines() if line.strip()] if isinstance(found, str) else list(found)


def against(question: Data, answer: t.Any, path: str) -> Lines:
    """Yield why AWX would refuse an answer to a question: its type, its choices, or its limits."""
    kind = str(question["type"])
    if kind == "password":
        yield f"{path}: is a secret; AWX asks for it"
        return
    if not isinstance(answer, TYPES[kind]) or isinstance(answer, bool):
        form = "text" if str in TYPES[kind] else "a list of choices" if list in TYPES[kind] else "a number"
        yield f"{path}: {answer!r} is not {form}"
        return
    if kind in _CHOOSES:
        yield from _chosen(question, answer if isinstance(answer, list) else [answer], path)
        return
    size = len(answer) if isinstance(answer, str) else answer
    unit = " characters" if isinstance(answer, str) else ""
    if question.get("min") is not None and size < question["min"]:
        yield f"{path}: {size}{unit} is less than {question['min']}"
    if question.get("max") is not None and size > question["max"]:
        yield f"{path}: {size}{unit} is more than {question['max']}"


def answers(entry: Data, given: t.Any, path: str, later: t.Collection[str] | None = None) -> Lines:
    """Yield why AWX would refuse the answers of a schedule or a node to the survey of a template.

    later: for a node the variables that its workflow gives. AWX asks for the answers of a node when it runs,
    and takes the defaults then; of a schedule it wants every required answer, and a default is none.
    """
    if not isinstance(given, dict):
        yield f"{path}: has to be a mapping of variables"
        return
    name, own = entry.get("name"), entry.get("extra_vars") or {}
    asked = {str(field.get("variable")): field for field in questions(entry)}
    for variable, answer in given.items():
        if variable in asked:
            yield from against(asked[variable], answer, f"{path}.{variable}")
        elif not entry.get("ask_variables_on_launch") and (variable, answer) not in own.items():
            yield f"{path}.{variable}: {name} does not ask for it"
    for variable, question in asked.items():
        has_default = question.get("default") not in ("", None)
        if not question.get("required") or variable in given:
            continue
        if later is None:
            is_secret = question.get("type") == "password"
            ways = [] if is_secret else [f"give it in {path.rpartition('.')[2]}"]
            ways += [f"say required: false in the survey of {name}"] if has_default or is_secret else []
            how = f"; {', or '.join(ways)}"
            yield f"{path}.{variable}: {name} requires an answer{how}"
        elif not has_default and variable not in later:
            yield f"{path}.{variable}: {name} requires an answer"
