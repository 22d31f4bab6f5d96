# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The name of a run: written into the cluster, and read back by another run."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run, parse, shown

RUN = Run("root", "bastion", "boot.4026531836", 4711, "998", "12")


def test_the_id_can_be_read_back() -> None:
    assert parse(RUN.id) == RUN
    assert parse(RUN._replace(job="").id) == RUN._replace(job="")


@pytest.mark.parametrize("text", ["", "kube-scheduler", "a|b|c|not a number|e|f", "a|b|c|1|e"])
def test_the_id_of_another_program_is_no_run(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (RUN, "root@bastion (pid 4711, AWX job 12)"),
        (RUN._replace(job=""), "root@bastion (pid 4711)"),
        (RUN._replace(pid=0, job=""), "root@bastion"),
    ],
)
def test_people_read_who_and_where(run: Run, text: str) -> None:
    assert run.shown == text
    assert shown(run.id) == text


def test_the_name_of_another_program_is_shown_as_it_is() -> None:
    assert shown("kube-scheduler") == "kube-scheduler"
