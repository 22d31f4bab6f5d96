# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quotas of namespaces that have a queue."""

from __future__ import annotations

import typing as t

import pytest
from unit.queue.builders import GPU, params, queue, share

from ansible_collections.accelerators.openshift.plugins.module_utils._queue import handover, options

KEY: t.Final = f"requests.{GPU}"


def quota(hard: dict[str, str], **spec: t.Any) -> dict[str, t.Any]:
    return {"metadata": {"name": "q", "namespace": "team-a"}, "spec": {"hard": hard, **spec}}


def test_queues_of_a_namespace_add_up() -> None:
    wanted = options.read(
        params(
            queue("a", share(gpus=4), namespaces=["team-a", "team-b"]),
            queue("b", share(gpus=2), share("batch", gpus=1)),
        )
    )
    assert handover.most(wanted) == {"team-a": {GPU: 7}, "team-b": {GPU: 4}}
    free = options.read(params(queue("a", share(gpus=4), cohort="gpus"), queue("b", share(gpus=2))))
    assert handover.most(free)["team-a"] == {GPU: None}


@pytest.mark.parametrize(
    ("found", "keys"),
    [
        pytest.param(quota({KEY: "6"}), [KEY], id="less"),
        pytest.param(quota({KEY: "7"}), [], id="enough"),
        pytest.param(quota({"requests.memory": "1Gi"}), [], id="another resource"),
        pytest.param(quota({KEY: "0"}, scopes=["Terminating"]), [], id="scope"),
        pytest.param(quota({KEY: "0"}, scopeSelector={}), [KEY], id="empty scope selector"),
        pytest.param(quota({KEY: "0"}, scopeSelector={"matchExpressions": [{}]}), [], id="scope selector"),
    ],
)
def test_what_refuses(found: dict[str, t.Any], keys: list[str]) -> None:
    assert list(handover.refusing(found, {GPU: 7})) == keys


def test_any_limit_refuses_what_has_none() -> None:
    assert handover.refusing(quota({KEY: "100"}), {GPU: None}) == {
        KEY: "its queues admit more without a limit"
    }


def test_what_is_left() -> None:
    found = quota({KEY: "4", "requests.memory": "1Gi"})
    assert handover.left(found, [KEY]) == {"requests.memory": "1Gi"}
    assert handover.left(quota({KEY: "4"}), [KEY]) == {}
