# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables, extra variables and tags are checked before a playbook's first request."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _inputs

Data = dict[str, t.Any]


def play(playbook: str = "enable_gpus", alone: bool = True, tags: str = "always gpu_policy") -> _inputs.Play:
    return _inputs.Play(playbook, frozenset(tags.split()), alone)


def check(extra: Data, playbook: str | _inputs.Play = "enable_gpus", **variables: t.Any) -> None:
    """Check what a user gave a playbook; a text with braces is a template that has no value yet."""

    def template(value: t.Any) -> t.Any:
        if "{{" in str(value):
            raise KeyError(value)
        return value

    of = play(playbook) if isinstance(playbook, str) else playbook
    _inputs.check(of, {**variables, **extra}, extra, template)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("gpu_validation_max_nodes", "zero", "must be a whole number, not 'zero'."),
        ("gpu_node_pool_max_surge", [1], "must be a whole number, not [1]."),
        ("gpu_policy_tolerate", "maybe", "must be true or false, not 'maybe'."),
        ("gpu_operator_spec", 7, "must be a mapping, not 7."),
        ("gpu_policy_exempt_namespaces", {"a": 1}, "must be a list, not {'a': 1}."),
        ("gpu_operator_on_busy", "drian", "is drian (did you mean drain?). Allowed are fail, drain, wait."),
        ("node_feature_discovery_wait_timeout", "soon", "must be a whole number, not 'soon'."),
        ("gpu_update_pools", "paus", "is paus (did you mean pause?). Allowed are leave, pause, last."),
        (
            "gpu_operator_namespace",
            "a" * 64,
            f"is {'a' * 64}, which is 64 characters long, 63 are allowed.",
        ),
        ("gpu_lock_timeout", "soon", "must be a whole number, not 'soon'."),
        ("gpu_report_only", "yess", "must be true or false, not 'yess'."),
        ("gpu_cluster_quotas", {"a": 1}, "must be a list, not {'a': 1}."),
        ("gpu_tolerations", {"key": "a"}, "must be a list, not {'key': 'a'}."),
    ],
)
def test_a_wrong_variable_of_a_role_is_refused(name: str, value: t.Any, said: str) -> None:
    for extra, rest in (({name: value}, {}), ({}, {name: value})):
        with pytest.raises(InputError) as raised:
            check(extra, **rest)
        assert raised.value.code == "INPUT-VARIABLE"
        assert raised.value.evidence == [f"{name} {said}"]
        page = (
            "docs/guide.md" if name in _inputs.OF_PLAYBOOKS else "ansible-doc -t role accelerators.openshift."
        )
        near = "Write " if "did you mean" in said else f"Correct {name}; {page}"
        assert raised.value.remedy.startswith(near)


def test_a_wrong_key_of_a_variable_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"driver_files.repo_confg \(did you mean repo_config\?\) is no option"
    ):
        check({}, gpu_operator_driver_files={"repo_confg": {}})


@pytest.mark.parametrize(
    ("toleration", "said"),
    [
        (
            {"key": "a", "operatr": "Exists"},
            r"gpu_tolerations\[0\].operatr \(did you mean operator\?\) is no option",
        ),
        (
            {"key": "a", "effect": "noschedule"},
            r"gpu_tolerations\[0\].effect is noschedule. Allowed are NoSchedule,",
        ),
        ("a", r"gpu_tolerations\[0\] must be a mapping, not 'a'."),
    ],
)
def test_a_wrong_toleration_is_refused_before_the_machines_are_bought(toleration: t.Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        check({}, gpu_tolerations=[toleration])
    check({}, gpu_tolerations=[{"key": "a", "operator": "Exists", "tolerationSeconds": 5}])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gpu_validation_max_nodes", None),
        ("gpu_policy_exempt_namespaces", None),
        ("gpu_policy_admission", False),
        ("gpu_operator_config", "5"),
    ],
)
def test_what_only_ansible_refuses_is_refused_before_the_role_begins(name: str, value: t.Any) -> None:
    with pytest.raises(InputError, match=f"{name} is ") as raised:
        check({name: value})
    assert raised.value.remedy.startswith(f"Correct {name}; ansible-doc -t role")


@pytest.mark.parametrize(
    "given",
    [
        {"gpu_policy_spare_image": ""},
        {"gpu_validation_max_nodes": "3", "gpu_policy_tolerate": "yes"},
        {"gpu_validation_max_nodes": "{{ a_later_result }}"},
        {"gpu_node_pool_on_busy": "wait", "gpu_policy_exempt_namespaces": "a,b"},
        {"team": "zero", "gpu_run": {"localhost": {}}},
    ],
)
def test_what_a_role_takes_is_let_through(given: Data) -> None:
    check(given)
    check({}, **given)


def test_the_defaults_of_every_role_are_let_through() -> None:
    for path in sorted(_inputs.ROOT.glob("roles/*/defaults/main.yml")):
        check({}, **(yaml.safe_load(path.read_text()) or {}))


def test_what_the_plan_gives_is_only_checked_if_a_user_gives_it() -> None:
    check({}, gpu_node_pool_pools="{{ gpu_plan_result.plan.pools }}")
    check({}, gpu_node_pool_go_on=["not ours to judge"])
    with pytest.raises(InputError):
        check({"gpu_node_pool_pools": {"a": 1}})


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("gpu_on_buzy", "gpu_on_busy"),
        ("gpu_report_dirs", "gpu_report_dir"),
        ("gpu_pols", "gpu_pools"),
        ("gpu_validation_max_node", "gpu_validation_max_nodes"),
        ("node_tuning_on_bussy", "node_tuning_on_busy"),
        ("gpu_node_tuning_on_busy", "node_tuning_on_busy"),
        ("gpu_clutsers", "gpu_clusters"),
        ("gpu_ndoe", "gpu_node"),
    ],
)
def test_a_misspelt_extra_variable_is_refused_and_one_of_the_inventory_warned_of(
    name: str, near: str
) -> None:
    with pytest.raises(InputError) as raised:
        check({name: "x"})
    assert raised.value.remedy == f"Write {near}."
    assert name in raised.value.message
    check({}, **{name: "x"})
    assert _inputs.warnings(play(), {name: "x"}, {}) == [
        f"No playbook and no role reads {name}: did you mean {near}?"
    ]
    assert _inputs.warnings(play(), {name: "x"}, {name: "x"}) == []


@pytest.mark.parametrize(
    "name",
    [
        *("gpu_foo", "gpu_team_of_mine", "gpu_model", "gpu_policies", "gpu_operator_version"),
        # No variable has these names: a tag and a role, a task's result, a result that AWX passes on.
        *("gpu_policy", "gpu_plan_resutl", "gpu_plan_result", "gpu_run"),
    ],
)
def test_a_name_of_the_users_own_is_let_through(name: str) -> None:
    check({name: "a"})
    check({}, **{name: "a"})
    assert _inputs.warnings(play(), {name: "a"}, {}) == []


def test_an_extra_variable_with_nearly_the_name_of_a_tag_is_refused() -> None:
    with pytest.raises(InputError, match=r"did you mean --tags gpu_policy\?") as raised:
        check({"gpu_polcy": "a"})
    assert raised.value.remedy == "Write --tags gpu_policy."
    check({}, gpu_polcy="a")
    assert _inputs.warnings(play(), {"gpu_polcy": "a"}, {}) == []


def test_a_name_that_another_variable_reads_is_the_users_own() -> None:
    own: Data = {"gpu_pol": 1}
    check({**own, "gpu_pools": [{"replicas": "{{ gpu_pol }}"}]})
    for reader in ("gpu_pools", "team_size"):
        check(own, **{reader: "{{ gpu_pol }}"})
        assert _inputs.warnings(play(), {**own, reader: "{{ gpu_pol }}"}, {}) == []
    for reader, text in (("hostvars", "gpu_pol"), ("team_size", "gpu_policy, gpu_pol_two")):
        with pytest.raises(InputError, match=r"did you mean gpu_pool\?"):
            check(own, **{reader: text})


@pytest.mark.parametrize(
    ("playbook", "given", "added"),
    [
        ("resize_pool", {}, "gpu_pool=NAME gpu_replicas=NUMBER"),
        ("resize_pool", {"gpu_pool": "a", "gpu_replicas": ""}, "gpu_replicas=NUMBER"),
        ("resize_pool", {"gpu_pool": "a", "gpu_replicas": 0}, ""),
        ("remove_pool", {"gpu_pool": ""}, "gpu_pool=NAME"),
        ("repair_node", {"gpu_node": None}, "gpu_node=NAME"),
        ("replace_node", {"gpu_node": "{{ a_later_result }}"}, ""),
        ("preflight_update", {}, "gpu_update_version=X.Y.Z"),
        ("rotate_pull_secret", {}, "gpu_pull_secret_file=FILE"),
        ("rotate_pull_secret", {"gpu_pull_secret": {"auths": {}}}, ""),
        ("rbac", {}, ""),
        ("rbac", {"gpu_rbac_token_file": "a"}, "gpu_rbac_token_playbook=NAME"),
        ("rbac", {"gpu_rbac_token_playbook": "a"}, "gpu_rbac_token_file=PATH"),
        ("rbac", {"gpu_rbac_token_seconds": 1}, "gpu_rbac_token_file=PATH gpu_rbac_token_playbook=NAME"),
    ],
)
def test_a_playbook_names_what_it_needs(playbook: str, given: Data, added: str) -> None:
    if not added:
        check(given, playbook)
        return
    with pytest.raises(InputError) as raised:
        check(given, playbook)
    assert raised.value.code == "INPUT-VARIABLE"
    assert raised.value.message.startswith(f"{playbook}.yml needs gpu_")
    assert raised.value.remedy == f"Add {added.replace('gpu_', '-e gpu_')} to the command."


@pytest.mark.parametrize("key", ["ansible_run_tags", "ansible_skip_tags"])
@pytest.mark.parametrize("alone", [True, False])
def test_a_misspelt_tag_is_refused(key: str, alone: bool) -> None:
    with pytest.raises(InputError) as raised:
        check({}, play(alone=alone), **{key: ["gpu_polcy", "preflight"]})
    assert raised.value.code == "INPUT-VARIABLE"
    option = "--tags" if key == "ansible_run_tags" else "--skip-tags"
    said = f"{option} gpu_polcy: no task of enable_gpus.yml has this tag (did you mean gpu_policy?)."
    assert raised.value.evidence == [said]
    assert raised.value.remedy == "Write gpu_policy."
    assert _inputs.warnings(play(alone=alone), {key: ["gpu_polcy"]}, {}) == []


@pytest.mark.parametrize(
    ("tags", "own"), [(["update_pools"], "gpu_policy"), (["mine", "yours"], "gpu_policy"), (["mine"], "none")]
)
def test_tags_with_which_nothing_would_run_are_refused(tags: list[str], own: str) -> None:
    of = play(tags="always" if own == "none" else "always gpu_policy")
    with pytest.raises(InputError) as raised:
        check({}, of, ansible_run_tags=tags)
    assert raised.value.evidence == [
        f"--tags {','.join(tags)}: no task of enable_gpus.yml has it. Its tags: {own}."
    ]
    assert raised.value.remedy == "Leave --tags out, or write a tag that the message names."
    # Another playbook of the run may have the tag, and what is left out needs no task.
    check({}, of._replace(alone=False), ansible_run_tags=tags)
    check({}, of, ansible_skip_tags=tags)


@pytest.mark.parametrize("key", ["ansible_run_tags", "ansible_skip_tags"])
def test_a_tag_that_no_task_has_beside_others_is_warned_of(key: str) -> None:
    option = "--tags" if key == "ansible_run_tags" else "--skip-tags"
    given: Data = {key: ["gpu_policy", "mine", "update_pools"]}
    check({}, **given)
    assert _inputs.warnings(play(), given, {}) == [f"{option} mine: no task of enable_gpus.yml has this tag."]
    assert _inputs.warnings(play(alone=False), given, {}) == []


@pytest.mark.parametrize("tag", ["all", "always", "never", "tagged", "untagged"])
def test_the_tags_of_ansible_are_let_through(tag: str) -> None:
    given: Data = {"ansible_run_tags": [tag], "ansible_skip_tags": [tag]}
    check({}, **given)
    assert _inputs.warnings(play(), given, {}) == []


HAVING: t.Final[Data] = {"gpu_pools": [{"name": "a"}]}


@pytest.mark.parametrize(
    ("having", "groups", "first", "listed"),
    [
        ("east", {}, "east", "east"),
        ("east west", {"production": ["east", "west"]}, "production", "production, east, west"),
        ("east west", {"spare": ["west"]}, "spare", "spare, east, west"),
        ("east", {"production": ["east", "empty"], "nobody": []}, "east", "east"),
        ("a b c d e f g", {}, "a", "a, b, c, d, e, f and others"),
    ],
)
def test_the_hosts_of_the_inventory_that_have_pools_are_named(
    having: str, groups: dict[str, list[str]], first: str, listed: str
) -> None:
    hosts: dict[str, Data] = {"empty": {}, "none": {"gpu_pools": []}, **dict.fromkeys(having.split(), HAVING)}
    remedy = _inputs.elsewhere(hosts, {"all": list(hosts), "ungrouped": having.split(), **groups})
    assert remedy.startswith(f"Add -e gpu_clusters={first} to the command: ")
    assert f" has gpu_pools for {listed}, and without gpu_clusters " in remedy


def test_without_pools_anywhere_no_host_is_named() -> None:
    assert _inputs.elsewhere({"empty": {}}, {"all": ["empty"], "production": ["empty"]}) == ""


def test_a_playbook_is_known_from_another_checkout_too(tmp_path: Path) -> None:
    assert _inputs.is_own(_inputs.ROOT / "playbooks/enable_gpus.yml")
    assert not _inputs.is_own(tmp_path / "enable_gpus.yml")
    (tmp_path / "gpu_variables").mkdir()
    assert _inputs.is_own(tmp_path / "enable_gpus.yml")
    assert not _inputs.is_own(tmp_path / "site.yml")


def test_a_users_name_is_found_through_the_variables_of_the_playbook() -> None:
    variables = {"gpu_policy_queues": "{{ gpu_queues | default([], true) }}", "__own": [1]}
    written = {
        "queues": "{{ gpu_policy_queues }}",
        "pools": "{{ __own }}",
        "wave": "{{ gpu_upgrade_wave | default(omit) }}",
        "config": "{{ gpu_operator_config or omit }}",
        "name": "a {{ gpu_pool }}",
        "state": "absent",
    }
    assert _inputs.users_names(written, variables) == {
        "queues": "gpu_queues",
        "wave": "gpu_upgrade_wave",
        "config": "gpu_operator_config",
    }
    assert _inputs.users_names("free form", variables) == {}
