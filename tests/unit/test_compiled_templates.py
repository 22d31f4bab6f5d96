# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates that the runs of the integration tests compile once for all."""

from __future__ import annotations

import typing as t
from pathlib import Path

import jinja2
import pytest
from integration.warm.compiled_templates import share


@pytest.fixture
def environments(tmp_path: Path) -> t.Callable[[], type[jinja2.Environment]]:
    """Return a function that makes a class of environments, as another process has it, with the files."""

    def make() -> type[jinja2.Environment]:
        made = type("Fresh", (jinja2.Environment,), {})
        share(made, tmp_path)
        return made

    return make


def test_a_template_means_the_same_the_second_time(environments: t.Any, tmp_path: Path) -> None:
    texts = [
        "{{ pools | map(attribute='name') | join(', ') }}",
        "{% if x is defined %}a{% else %}b{% endif %}",
    ]
    plain = [jinja2.Environment().from_string(one).render(pools=[{"name": "p"}]) for one in texts]
    for _turn in range(2):
        made = environments()()
        assert [made.from_string(one).render(pools=[{"name": "p"}]) for one in texts] == plain
    assert list(tmp_path.iterdir())


def test_the_second_process_compiles_nothing(environments: t.Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert environments()().from_string("{{ 1 + x }}").render(x=1) == "2"
    monkeypatch.setattr(jinja2.Environment, "_parse", lambda *_arguments: pytest.fail("it was parsed again"))
    assert environments()().from_string("{{ 1 + x }}").render(x=2) == "3"


def test_another_syntax_is_another_template(environments: t.Any) -> None:
    made = environments()
    assert made().from_string("[[ x ]] {{ x }}").render(x=1) == "[[ x ]] 1"
    other = made(variable_start_string="[[", variable_end_string="]]")
    assert other.from_string("[[ x ]] {{ x }}").render(x=1) == "1 {{ x }}"


def test_an_expression_is_compiled_once(environments: t.Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert environments()().compile_expression("x > 1")(x=2) is True
    for one in ("_generate", "_compile"):
        monkeypatch.setattr(jinja2.Environment, one, lambda *_given, **_named: pytest.fail("compiled again"))
    assert environments()().compile_expression("x > 1")(x=1) is False


def test_an_expression_is_no_template(environments: t.Any) -> None:
    assert environments()().compile_expression("x")(x=1) == 1
    assert environments()().from_string("x").render(x=1) == "x"


def test_a_broken_template_stays_broken(environments: t.Any) -> None:
    for _turn in range(2):
        with pytest.raises(jinja2.TemplateSyntaxError):
            environments()().from_string("{{ x")
