# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What templates of roles and playbooks become, on every ansible-core that the collection supports.

Before 2.19 a template is text unless it makes a whole list or mapping, and evaluates every variable it names.
"""

from __future__ import annotations

import inspect
import re
import typing as t
from pathlib import Path

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import lookup_loader
from ansible.template import Templar

ROOT: t.Final = Path(__file__).resolve().parents[2]
TYPES: t.Final = [{"platform": "aws", "name": "own.large"}]


def read(path: str) -> t.Any:
    """Return the content of a YAML file with its templates."""
    loader = DataLoader()
    # Since 2.19 Ansible templates only what it read as a template.
    known = inspect.signature(loader.load_from_file).parameters
    trust = {"trusted_as_template": True} if "trusted_as_template" in known else {}
    return loader.load_from_file(str(ROOT / path), **trust)


def templated(template: t.Any, variables: dict[str, t.Any]) -> t.Any:
    return Templar(DataLoader(), variables=variables).template(template)


@pytest.mark.parametrize("value", [1000, -5, "1000"])
def test_a_priority_class_keeps_the_type_of_its_value(value: int | str) -> None:
    """The API server refuses a value that is text."""
    tasks = read("roles/gpu_policy/tasks/present.yml")
    (task,) = [task for task in tasks if task["name"] == "present | Create the priority classes"]
    priority = {"name": "gpu-high", "value": value, "description": "it's {urgent}: [1]"}
    variables = {**read("roles/gpu_policy/vars/main.yml"), "__gpu_policy_priority": priority}
    options = templated(task["accelerators.openshift.manifests"], variables)
    expected = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "gpu-high"},
        "value": value,
        "preemptionPolicy": "PreemptLowerPriority",
        "description": "it's {urgent}: [1]",
    }
    assert options == {"objects": [expected]}
    assert type(options["objects"][0]["value"]) is type(value)


def short_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find lookups without Ansible's import hooks, which a unit test does not have."""
    real = lookup_loader.get
    monkeypatch.setattr(
        lookup_loader, "get", lambda name, **more: real(name.removeprefix("ansible.builtin."), **more)
    )


@pytest.mark.parametrize("form", ["none", "list", "path"])
def test_the_users_own_instance_types_are_a_list_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    short_names(monkeypatch)
    path = tmp_path / "types.yml"
    path.write_text(str(TYPES))
    given = {"none": {}, "list": TYPES, "path": str(path)}[form]
    variables = read("playbooks/gpu_variables/vars/main/catalogue.yml")
    extra = {"gpu_instance_types_catalogue": given} if given else {}
    assert templated(variables["__gpu_catalogue"], {**variables, **extra}) == (TYPES if given else [])


@pytest.mark.parametrize(
    ("text", "found"), [("kind: List", {"kind": "List"}), ("", {}), ("- kind: List", {}), ("kind", {})]
)
def test_a_file_for_oc_mirror_that_is_no_map_is_refused_and_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, found: dict[str, str]
) -> None:
    short_names(monkeypatch)
    path = tmp_path / "image-set.yml"
    path.write_text(text)
    (play,) = read("playbooks/mirror.yml")
    template = play["tasks"][0]["block"][0]["vars"]["__gpu_image_set"]
    assert templated(template, {"gpu_mirror_config": str(path)}) == found
    assert templated(template, {"omit": "nothing"}) == "nothing"


@pytest.mark.parametrize("playbook", ["enable_gpus", "mirror", "plan"])
def test_a_playbook_that_lists_operators_knows_the_variables_of_their_roles(playbook: str) -> None:
    roles = read("playbooks/gpu_variables/vars/main/operators.yml")["__gpu_operators"]
    (play,) = read(f"playbooks/{playbook}.yml")
    known = str([play, read("playbooks/tasks/roles.yml") if "tasks/roles.yml" in str(play) else []])
    imported = set(re.findall(r"import_role': \{[^}]*'name': 'accelerators.openshift.(\w+)'", known))
    assert imported >= set(roles)


# Modules of Ansible that take a file or folder of the user.
FILED: t.Final = ("copy", "find", "include_vars")


def files_of_users(value: t.Any) -> t.Iterator[t.Any]:
    """Yield the templates of playbooks that name a file for a module or a lookup."""
    if isinstance(value, dict):
        copied: dict[str, t.Any] = {}
        for name in FILED:
            copied |= value.get(f"ansible.builtin.{name}") or {}
        yield from (copied[key] for key in ("dest", "dir", "paths") if key in copied)
        ours = [inner for name, inner in value.items() if str(name).startswith("accelerators.openshift.")]
        yield from (inner["path"] for inner in ours if isinstance(inner, dict) and "path" in inner)
        for inner in value.values():
            yield from files_of_users(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from files_of_users(inner)
    elif isinstance(value, str):
        for name in re.findall(r"lookup\('ansible.builtin.file', ([^)]+)\)", value):
            yield "{{ " + name + " }}"


@pytest.mark.parametrize(
    "path",
    [
        "playbooks/gpu_variables/vars/main/catalogue.yml",
        *(f"playbooks/{name}.yml" for name in ("before_openshift_update", "conformance", "drift", "mirror")),
        *(f"playbooks/{name}.yml" for name in ("must_gather", "plan", "rbac", "render", "report_use")),
        "playbooks/awx_setup.yml",
        "playbooks/rotate_pull_secret.yml",
    ],
)
def test_a_file_that_a_user_names_is_beside_the_user(path: str, tmp_path: Path) -> None:
    """Ansible runs local tasks in the folder of the playbook, and its lookups search there."""
    content = read(path)
    parts = content if isinstance(content, list) else [{"vars": content}]
    own = {name: value for part in parts for name, value in (part.get("vars") or {}).items()}
    found = sorted(set(files_of_users(content)))
    assert found
    (tmp_path / "found.yml").write_text(yaml.safe_dump([*map("".join, found)]))
    names = re.findall(r"\bgpu_\w+", str(content))
    others = {"ansible_play_hosts_all": ["east"], "inventory_hostname": "east"}
    for template in read(str(tmp_path / "found.yml")):
        for given, expected in (
            ("reports/x", Path.cwd() / "reports/x"),
            ("~/x", Path.home().resolve() / "x"),
        ):
            value = templated(template, own | others | dict.fromkeys(names, given))
            # `paths` may be a list.
            assert str(value).lstrip("['").startswith(str(expected))


def templates_of_pools(value: t.Any, is_expression: bool = False) -> t.Iterator[t.Any]:
    """Yield the templates of a playbook that read gpu_pools."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from templates_of_pools(inner, key in ("when", "that"))
    elif isinstance(value, list):
        for inner in value:
            yield from templates_of_pools(inner, is_expression)
    elif (is_expression or "{{" in str(value)) and re.search(r"(?<!\w)gpu_pools\b", str(value)):
        yield "{{ " + value + " }}" if is_expression else value


@pytest.fixture(scope="module")
def reading_pools(tmp_path_factory: pytest.TempPathFactory) -> t.Any:
    """Every template of a playbook that reads gpu_pools."""
    paths = [*ROOT.glob("playbooks/*.yml"), *ROOT.glob("playbooks/tasks/*.yml")]
    found = [text for path in paths for text in templates_of_pools(yaml.safe_load(path.read_text()))]
    (file := tmp_path_factory.mktemp("pools") / "found.yml").write_text(yaml.safe_dump(found))
    return read(str(file))


@pytest.mark.parametrize("pools", [5, True, 0.5, "training", {"name": "a"}, [5], [None], ["a"], [{"nam": 1}]])
def test_pools_that_are_no_list_of_pools_fail_in_no_template(reading_pools: t.Any, pools: t.Any) -> None:
    """The module says what is wrong with them; an error of Jinja names no option and no remedy."""
    for template in reading_pools:
        templated(template, {"gpu_pools": pools, "gpu_pool": "a"})


def copies(value: t.Any) -> t.Iterator[tuple[str, str]]:
    """Yield the path and the condition of each task of a playbook that writes a file of the user's."""
    for task in value if isinstance(value, list) else []:
        for part in ("tasks", "post_tasks", "block", "always"):
            yield from copies(task.get(part))
        if "ansible.builtin.copy" in task:
            yield task["ansible.builtin.copy"]["dest"], task["when"]


@pytest.mark.parametrize("playbook", ["before_openshift_update", "drift", "mirror", "plan", "report_use"])
@pytest.mark.parametrize("given", [None, "", "unset"])
def test_a_file_without_a_name_is_not_written(playbook: str, given: str | None, tmp_path: Path) -> None:
    """A variable that is there without a value is not set."""
    ((path, condition),) = copies(yaml.safe_load((ROOT / f"playbooks/{playbook}.yml").read_text()))
    (name,) = re.findall(r"gpu_\w+_file", path)
    (tmp_path / "when.yml").write_text(yaml.safe_dump(["{{ " + condition + " }}"]))
    (template,) = read(str(tmp_path / "when.yml"))
    assert templated(template, {} if given == "unset" else {name: given}) is False


@pytest.mark.parametrize("playbook", ["replace_node", "repair_node", "repartition"])
def test_a_run_in_check_mode_only_reports(playbook: str) -> None:
    (play,) = read(f"playbooks/{playbook}.yml")
    found = {
        (is_check, given): templated(
            play["vars"]["__gpu_reports"],
            {"ansible_check_mode": is_check} | ({} if given == "unset" else {"gpu_report_only": given}),
        )
        for is_check in (True, False)
        for given in ("unset", None, "", False, "no", True, "yes")
    }
    assert play["check_mode"] == "{{ __gpu_reports }}"
    assert [key for key, reports in found.items() if not reports] == [
        (False, given) for given in ("unset", None, "", False, "no")
    ]


@pytest.mark.parametrize("given", [["a", "b"], "a, b", "a,b"])
def test_pools_to_upgrade_may_be_one_text(given: t.Any) -> None:
    """A variable of the command line, `-e gpu_upgrade_pools=a`, is text."""
    (play,) = read("playbooks/upgrade_driver.yml")
    assert templated(play["vars"]["__gpu_chosen"], {**play["vars"], "gpu_upgrade_pools": given}) == ["a", "b"]
    assert templated(play["vars"]["__gpu_chosen"], play["vars"]) == []


@pytest.mark.parametrize(
    ("given", "place"), [({}, "OMITTED"), ({"gpu_upgrade_validation": {"namespace": "team"}}, "team")]
)
def test_an_upgrade_asks_for_the_rights_where_it_validates(given: dict[str, t.Any], place: str) -> None:
    (play,) = read("playbooks/upgrade_driver.yml")
    (task,) = [task for task in play["tasks"] if task["name"] == "Check the rights"]
    option = task["accelerators.openshift.access_review"]["validation_namespace"]
    assert templated(option, {**given, "omit": "OMITTED"}) == place


@pytest.mark.parametrize(
    ("playbook", "tasks"),
    [("validate", "pre_tasks"), ("after_openshift_update", "pre_tasks"), ("conformance", "tasks")],
)
def test_a_verdict_about_no_pool_at_all_is_refused(playbook: str, tasks: str) -> None:
    (play,) = read(f"playbooks/{playbook}.yml")
    (imports,) = [task for task in play[tasks] if task["name"] == "Plan the pools"]
    (task,) = read(f"playbooks/{imports['ansible.builtin.import_tasks']}")
    assert "accelerators.openshift.gpu_plan" in task
    assert {"when"} & {*imports, *task} == set(), "gpu_plan refuses an empty list, but only where it runs"


@pytest.mark.parametrize(
    "image", ["", "registry.example.com/cuda@sha256:abc"], ids=["the benchmark's own", "by digest"]
)
def test_pools_without_an_image_of_their_own_get_that_of_the_role(image: str) -> None:
    task, *_proofs = read("roles/gpu_validation/tasks/present.yml")
    option = task["accelerators.openshift.gpu_workload"]["image"]
    given = {"gpu_validation_image": image, "omit": "OMITTED"}
    assert templated(option, given) == (image or "OMITTED")


@pytest.mark.parametrize(
    ("results", "written"),
    [
        ({}, []),
        ({"gpu_node_pool_foreseen": {"skipped": True}, "gpu_policy_result": {"skipped": True}}, []),
        ({"gpu_node_pool_foreseen": {"results": [{"foreseen": [{"action": "keep", "object": 1}]}]}}, []),
        ({"node_tuning_foreseen": {"foreseen": [{"action": "make", "object": 2}]}}, [2]),
        (
            {"gpu_node_pool_foreseen": {"results": [{"foreseen": [{"action": "change", "object": 1}]}]}},
            [1],
        ),
        ({"gpu_policy_result": {"foreseen": [{"action": "make", "object": 2}]}}, [2]),
        ({"nvidia_network_operator_result": {"foreseen": [{"action": "make", "object": 3}]}}, [3]),
        ({"gpu_operators_foreseen": {"foreseen": [{"action": "make", "object": 4}]}}, [4]),
    ],
)
def test_what_the_first_checks_foresee(results: dict[str, t.Any], written: list[int]) -> None:
    variables = read("playbooks/gpu_variables/vars/main/role_results.yml")
    found = templated(variables["__gpu_foreseen"], {**variables, **results})
    assert [one["object"] for one in found] == written


@pytest.mark.parametrize(
    ("tags", "skipped", "parts", "machines"),
    [
        (["all"], [], ["gpu_operator", "node_feature_discovery"], True),
        (["gpu_operator"], [], ["gpu_operator"], False),
        (["gpu_node_pool_absent"], [], [], True),
        (["all"], ["gpu_node_pool"], ["gpu_operator", "node_feature_discovery"], False),
    ],
)
def test_a_removal_with_tags_foresees_only_what_they_remove(
    tags: list[str], skipped: list[str], parts: list[str], machines: bool
) -> None:
    (play,) = read("playbooks/remove_gpus.yml")
    (task,) = [one for one in play["pre_tasks"] if "accelerators.openshift.gpu_removal" in one]
    facts = {"ansible_run_tags": tags, "ansible_skip_tags": skipped, "ansible_playbook_python": "python3"}
    off = {"nvidia_network_operator_nic_cluster_policy": {}, "gpu_policy_queue_operator": False}
    variables = {**play["vars"], **facts, **off}
    options = task["accelerators.openshift.gpu_removal"]
    assert sorted(templated(options["parts"], variables)) == parts
    assert templated(options["machines"], variables) is machines


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ({"__gpu_result": {"changed": True}, "__gpu_tuning_result": {}}, "Pool training is removed."),
        ({"__gpu_result": {"changed": False}, "__gpu_tuning_result": {}}, "Pool training is not there."),
        ({"__gpu_tuning_result": {"changed": True}}, "The tuning of pool training is removed."),
    ],
)
def test_a_removal_of_a_pool_says_what_its_tags_removed(results: dict[str, t.Any], said: str) -> None:
    (play,) = read("playbooks/remove_pool.yml")
    (task,) = [one for one in play["tasks"] if one["name"] == "Show what was done"]
    variables = {**task["vars"], **results, "gpu_pool": "training", "ansible_check_mode": False}
    assert templated(task["ansible.builtin.debug"]["msg"], variables) == said


PART: t.Final = {"name": "a", "ready": True, "code": "", "message": "", "remedy": ""}
NO_STACK: t.Final = {"code": "GPU-DRV-CRASH", "message": "it's {broken}: [x]", "remedy": "Do `x`."}
NO_NICS: t.Final = {"code": "NIC-DRV-CRASH", "message": "no module", "remedy": "Do `y`."}
WITHOUT: t.Final[dict[str, t.Any]] = {
    "gpu_node_pool_result": {
        "results": [
            {"failed": False, "__gpu_node_pool_pool": {"name": "a"}},
            {"failed": True, "msg": "MACH-CAPACITY: no", "__gpu_node_pool_pool": {"name": "b"}},
        ]
    },
    "node_tuning_result": {
        "code": "TUNE-DEGRADED",
        "msg": "TUNE-DEGRADED: no",
        "pools": [{"name": "a", "ready": True}, {"name": "c", "ready": False}],
    },
    "nvidia_network_operator_result": {
        "code": "NIC-DRV-CRASH",
        "special_resource": {"pools": [PART, PART | NO_NICS | {"name": "e", "ready": False}]},
    },
    "gpu_operator_result": {
        "code": "GPU-DRV-CRASH",
        "special_resource": {"pools": [PART, PART | NO_STACK | {"name": "d", "ready": False}]},
    },
    "gpu_plan_result": {"plan": {"pools": 5 * [{}], "validations": [{"name": name} for name in "abcde"]}},
}


def of_playbook(name: str, **results: t.Any) -> t.Any:
    folder = "playbooks/gpu_variables/vars/main"
    variables = {**read(f"{folder}/role_inputs.yml"), **read(f"{folder}/role_results.yml")}
    return templated(variables[name], {**variables, **results})


def test_a_run_that_went_on_names_each_pool_that_is_not_ready() -> None:
    assert of_playbook("__gpu_unready", **WITHOUT) == [
        "b: MACH-CAPACITY: no",
        "c: TUNE-DEGRADED: no",
        "e: NIC-DRV-CRASH: no module Remedy: Do `y`.",
        "d: GPU-DRV-CRASH: it's {broken}: [x] Remedy: Do `x`.",
    ]
    assert of_playbook("__gpu_late", **WITHOUT) == ["b", "c", "e", "d"]
    assert [one["code"] for one in of_playbook("__gpu_without_stack", **WITHOUT)] == [
        "NIC-DRV-CRASH",
        "GPU-DRV-CRASH",
    ]
    assert of_playbook("gpu_validation_go_on", **WITHOUT) is True
    assert of_playbook("node_tuning_go_on", **WITHOUT) is True


@pytest.mark.parametrize("role", ["gpu_operator", "nvidia_network_operator"])
def test_no_later_role_waits_for_a_pool_whose_tuning_failed(role: str) -> None:
    assert of_playbook(f"{role}_given_up", **WITHOUT) == ["c"]
    assert of_playbook(f"{role}_given_up", gpu_plan_result=WITHOUT["gpu_plan_result"]) == []
    stacks = [
        one["accelerators.openshift.special_resource"]
        for one in read(f"roles/{role}/tasks/present.yml")
        if "failed_when" in one
    ]
    assert [one["given_up"] for one in stacks] == [f"{{{{ {role}_given_up }}}}"]


@pytest.mark.parametrize("role", ["gpu_operator", "nvidia_network_operator"])
@pytest.mark.parametrize(
    ("go_on", "ready", "fails"), [(True, True, False), (True, False, True), (False, True, True)]
)
def test_a_role_goes_on_while_the_stack_of_one_pool_is_ready(
    tmp_path: Path, role: str, go_on: bool, ready: bool, fails: bool
) -> None:
    """A dry run, and a task that only asks, never go on."""
    (task,) = [one for one in read(f"roles/{role}/tasks/present.yml") if "failed_when" in one]
    assert task["accelerators.openshift.special_resource"]["go_on"] == f"{{{{ {role}_go_on }}}}"
    result = {"failed": True, "special_resource": {"pools": [PART | {"ready": ready}]}}
    variables = {**read(f"roles/{role}/vars/main.yml"), f"{role}_result": result, f"{role}_go_on": go_on}
    stages = {"ready": fails, "requested": True, "foreseen": True}
    file = tmp_path / "condition.yml"
    file.write_text(f"fails: >-\n  {{{{ {task['failed_when']} }}}}\n")
    for until, is_failure in stages.items():
        assert templated(read(str(file))["fails"], {**variables, f"{role}_until": until}) is is_failure


@pytest.mark.parametrize(
    ("driver", "spec", "models"),
    [
        ({}, {}, ["V100", "T4"]),
        ({"version": "580.1"}, {}, []),
        ({}, {"driver": {"version": "580.1"}}, []),
        ({"enabled": True}, {"driver": {"enabled": False}}, []),
    ],
)
def test_gpus_that_get_the_operators_own_driver(driver: t.Any, spec: t.Any, models: list[str]) -> None:
    pools = [
        {"name": "a", "gpu_models": ["V100"]},
        {"name": "b", "gpu_models": ["P100"], "driver": {"version": "580.1"}},
        {"name": "c", "gpu_models": ["T4"], "driver": {"kernel_module_type": "open"}},
        {"name": "existing"},
    ]
    variables = {
        **read("roles/gpu_operator/vars/main.yml"),
        "gpu_operator_pools": pools,
        "gpu_operator_driver": driver,
        "gpu_operator_spec": spec,
    }
    assert templated(variables["__gpu_operator_models"], variables) == models


def test_pools_without_tuning_or_stack_are_not_validated() -> None:
    assert of_playbook("gpu_validation_pools", **WITHOUT) == [{"name": "a"}, {"name": "b"}]


@pytest.mark.parametrize("step", ["gpu_node_pool_result", "gpu_sharing_result", "gpu_operator_result"])
def test_the_validation_knows_that_earlier_steps_bring_nodes_or_devices(step: str) -> None:
    given = {"gpu_plan_result": WITHOUT["gpu_plan_result"], step: {"changed": True}}
    assert all(one["foreseen"] for one in of_playbook("gpu_validation_pools", **given))


def test_a_run_in_which_all_is_ready_names_nothing() -> None:
    results = {key: {"changed": False} for key in WITHOUT if key != "gpu_plan_result"}
    given = {**results, "gpu_plan_result": WITHOUT["gpu_plan_result"]}
    assert of_playbook("__gpu_unready", **given) == []
    assert of_playbook("gpu_validation_go_on", **given) is False
    assert len(of_playbook("gpu_validation_pools", **given)) == 5


def test_the_playbook_of_the_tuning_alone_does_not_go_on() -> None:
    given = {key: value for key, value in WITHOUT.items() if key != "gpu_node_pool_result"}
    assert of_playbook("node_tuning_go_on", **given) is False


def test_a_play_that_reads_files_of_variables_reads_all_that_they_use() -> None:
    """Plays of the collection have the whole role gpu_variables; examples name its files one by one."""
    plays = [path for path in (ROOT / "examples").rglob("*.yml") if "gpu_variables" in path.read_text()]
    assert plays
    for path in plays:
        (play,) = yaml.safe_load(path.read_text())
        texts = [(path.parent / one).resolve().read_text() for one in play["vars_files"]]
        defined = {name for one in texts for name in yaml.safe_load(one)}
        used = {name for one in texts for name in re.findall(r"(?<!attribute=')\b__gpu_\w+", one)}
        assert used <= defined, path
