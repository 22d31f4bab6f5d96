# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A user meets a failure, sets the variable that its remedy names, and that failure is gone.

The run gets the options that Ansible renders from the roles' tasks: once without the variable, once with it.
"""

from __future__ import annotations

import importlib
import typing as t
from pathlib import Path

import pytest
from unit.remedies.case import LEFT_OUT, Cases, loaded, passed
from unit.rules.test_remedy_variables import WITH_VARIABLES, value_of, variables

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import CODES

PAIRS: t.Final = [(code, name) for code in WITH_VARIABLES for name in variables(CODES[code].remedy)]
FILES: t.Final = sorted(path.stem for path in Path(__file__).parent.glob("cases/*.py"))


def all_cases() -> Cases:
    """Return the cases of all files. Raise AssertionError for a pair that two files have."""
    found: Cases = {}
    for name in FILES:
        cases: Cases = importlib.import_module(f"unit.remedies.cases.{name}").CASES
        assert set(cases) & set(found) == set(), name
        found |= cases
    return found


CASES: t.Final = all_cases()


def test_every_pair_has_a_case() -> None:
    assert set(CASES) == set(PAIRS)


@pytest.mark.parametrize(("code", "variable"), PAIRS)
def test_the_variable_ends_the_failure(code: str, variable: str) -> None:
    case = CASES[code, variable]
    value = loaded(case.value or value_of(variable, CODES[code].remedy))
    right = {} if case.value == LEFT_OUT else {variable: value}
    wrong = {variable: loaded(case.before)} if case.before else {}
    before = passed(case, variable, wrong)
    after = passed(case, variable, right)
    assert before != after
    assert case.run(before) == code
    assert case.run(after) == case.then
