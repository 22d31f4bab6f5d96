"""A survey that AWX would refuse, and answers that it would refuse."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._awx import surveys

QUESTION: t.Final[dict[str, t.Any]] = {
    "type": "integer",
    "variable": "count",
    "question_name": "How many?",
    "required": True,
    "min": 1,
    "max": 9,
}
CHOICE: t.Final[dict[str, t.Any]] = {
    "variable": "way",
    "question_name": "Which?",
    "required": False,
    "type": "multiplechoice",
    "choices": ["a", "b"],
}


def problems(*questions: t.Any) -> list[str]:
    spec = {"name": "s", "description": "", "spec": list(questions)}
    return list(surveys.problems(spec, "survey"))


def test_right_questions() -> None:
    assert (
        problems(QUESTION, CHOICE, {**CHOICE, "variable": "other", "choices": "a\nb", "default": "b"}) == []
    )


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"type": "number"}, "survey.spec[0].type: number is not one of text, textarea"),
        ({"variable": ""}, "survey.spec[0].variable: has to be text"),
        ({"question_name": 1}, "survey.spec[0].question_name: has to be text"),
        ({"required": "yes"}, "survey.spec[0].required: has to be true or false"),
        ({"minimum": 1}, "survey.spec[0].minimum: no question has this key"),
        ({"max": "9"}, "survey.spec[0].max: has to be a whole number"),
        ({"default": "2"}, "survey.spec[0].default: '2' is not a number"),
        ({"default": True}, "survey.spec[0].default: True is not a number"),
        ({"default": 0}, "survey.spec[0].default: 0 is less than 1"),
        ({"default": 10}, "survey.spec[0].default: 10 is more than 9"),
        ({"type": "text", "default": "0123456789"}, "survey.spec[0].default: 10 characters is more than 9"),
        ({"type": "password", "default": "s3"}, "survey.spec[0].default: is a secret; AWX asks for it"),
        ({"type": "multiplechoice"}, "survey.spec[0].choices: has no choice"),
        (
            {"type": "multiplechoice", "choices": ["a"], "default": "b"},
            "spec[0].default: 'b' is not one of a",
        ),
    ],
)
def test_a_question_that_awx_would_refuse(change: dict[str, t.Any], found: str) -> None:
    lines = problems({**QUESTION, **change})
    assert len(lines) == 1
    assert found in lines[0]


def test_a_variable_is_asked_for_once() -> None:
    assert problems(QUESTION, QUESTION) == ["survey.spec[1].variable: another question asks for count"]


@pytest.mark.parametrize("spec", [None, {}, {"name": "", "description": "", "spec": []}])
def test_a_survey_has_questions(spec: t.Any) -> None:
    assert list(surveys.problems(spec, "survey")) == ["survey: has no list of questions in spec"]
    assert problems("ask") == [
        "survey.spec[0]: has to be a question with type, variable, question_name and required"
    ]


def answers(given: t.Any, later: t.Collection[str] | None = None, **template: t.Any) -> list[str]:
    spec = {"name": "s", "description": "", "spec": [QUESTION, CHOICE]}
    entry = {"name": "it", "survey_enabled": True, "survey_spec": spec, **template}
    return list(surveys.answers(entry, given, "extra_data", later))


def test_answers() -> None:
    assert answers({"count": 2, "way": "b"}) == []
    assert answers({}) == ["extra_data.count: it requires an answer; give it in extra_data"]
    assert answers({}, later=["count"]) == []
    assert answers({}, later=[]) == ["extra_data.count: it requires an answer"]
    assert answers({"count": 12, "way": "c"}) == [
        "extra_data.count: 12 is more than 9",
        "extra_data.way: 'c' is not one of a, b",
    ]
    assert answers({"count": 2, "more": 1}) == ["extra_data.more: it does not ask for it"]
    assert answers({"count": 2, "more": 1}, ask_variables_on_launch=True) == []
    assert answers({"count": 2}, survey_enabled=False) == ["extra_data.count: it does not ask for it"]


def test_a_default_is_no_answer_of_a_schedule_but_one_of_a_node() -> None:
    spec = {"name": "s", "description": "", "spec": [{**QUESTION, "default": 3}]}
    how = "give it in extra_data, or say required: false in the survey of it"
    assert answers({}, survey_spec=spec) == [f"extra_data.count: it requires an answer; {how}"]
    assert answers({}, later=[], survey_spec=spec) == []


def test_nobody_is_told_to_write_a_secret_into_a_schedule() -> None:
    question = {"type": "password", "variable": "word", "question_name": "?", "required": True}
    spec = {"name": "s", "description": "", "spec": [question]}
    how = "say required: false in the survey of it"
    assert answers({}, survey_spec=spec) == [f"extra_data.word: it requires an answer; {how}"]


def test_a_variable_with_the_value_of_the_template_needs_no_question() -> None:
    assert answers({"count": 2, "more": 1}, extra_vars={"more": 1}) == []
    assert answers({"count": 2, "more": 2}, extra_vars={"more": 1}) == [
        "extra_data.more: it does not ask for it"
    ]
