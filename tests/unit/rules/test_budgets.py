"""Budgets that a reader feels: the width of lines, the length of files and functions, the size of folders."""

from __future__ import annotations

import ast
import collections
import functools
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COLUMNS, LINES, FUNCTION, FILES = 110, 300, 40, 20
# The code lines of a module: its options, and a function that says which step comes when.
DECLARATION = 60

MODULES = sorted((ROOT / "plugins/modules").glob("*.py"))
PYTHON = sorted(
    path
    for top in ("benchmarks", "plugins", "sandbox/openshift_sandbox", "tests")
    for path in (ROOT / top).rglob("*.py")
)
TEXTS = [
    ROOT / "sandbox/README.md",
    ROOT / "sandbox/pyproject.toml",
    *sorted(path for path in (ROOT / "sandbox").rglob("*.yml") if "build" not in path.parts),
]
TASKS = sorted((ROOT / "roles").glob("*/tasks/*.yml"))
READMES = sorted((ROOT / "roles").glob("*/README.md"))
PAPERS = {"DOCUMENTATION", "EXAMPLES", "RETURN"}

# What is over a budget and has to be mended. A name that is within the budgets again leaves its list.
LONG = {"plugins/lookup/gpu_instance_types.py"}
LONG_FUNCTIONS: dict[str, set[str]] = {
    "benchmarks/objects.py": {"node", "twelve"},
    "benchmarks/report.py": {"_tables"},
    "benchmarks/row_enable.py": {"rows"},
    "benchmarks/row_growth.py": {"clusters"},
    "benchmarks/row_playbook.py": {"judged"},
    "benchmarks/row_scale.py": {"judged"},
    "benchmarks/row_task.py": {"rows"},
    "benchmarks/row_wait.py": {"measured", "rows"},
    "plugins/module_utils/_machines/candidates.py": {"start"},
    "plugins/module_utils/_machines/machine.py": {"judge"},
    "plugins/module_utils/_machines/machine_set.py": {"build"},
    "plugins/module_utils/_machines/plan.py": {"plan"},
    "plugins/module_utils/_machines/steps/autoscaling.py": {"present"},
    "plugins/module_utils/_machines/steps/removal.py": {"prepare"},
    "plugins/module_utils/_platforms/aws.py": {"_check_market"},
    "plugins/module_utils/_platforms/azure.py": {"_check_disks"},
    "plugins/module_utils/_pools/report.py": {"_table"},
    "plugins/module_utils/_pools/rules.py": {"_sizes"},
    "tests/faults/wire/test_answers.py": {
        "test_a_wait_of_three_queries_asks_a_server_that_is_away_as_often_as_one"
    },
    "tests/integration/backends/test_kmm_devices.py": {
        "test_a_dra_driver_is_ready_when_its_devices_can_be_claimed"
    },
    "tests/integration/backends/test_sro.py": {"test_from_a_special_resource_to_a_module"},
    "tests/integration/machines/living_pool.py": {"served"},
    "tests/integration/machines/test_autoscaler_limits.py": {"test_limits_are_merged_and_given_back"},
    "tests/integration/machines/test_autoscaling.py": {
        "test_a_pending_pod_brings_the_first_node_and_no_run_fights_it"
    },
    "tests/integration/machines/test_candidates_whole.py": {
        "test_killed_while_it_waits_for_the_second_candidate",
        "test_the_whole_run_with_candidates",
    },
    "tests/integration/machines/test_drains.py": {"test_what_tolerates_the_cordon_comes_back_and_is_told_of"},
    "tests/integration/machines/test_pool_drift.py": {"test_killed_in_the_middle"},
    "tests/integration/platforms/test_azure.py": {"test_the_life_of_a_pool"},
    "tests/integration/platforms/test_gcp.py": {"test_the_life_of_a_pool"},
    "tests/integration/sandbox/test_day_two.py": {
        "test_the_autoscaler_grows_a_pool_from_zero_and_keeps_its_limit"
    },
    "tests/integration/sandbox/test_sandbox_lifecycle.py": {"test_pods_run_end_fail_crash_and_log"},
    "tests/integration/stack/nfd/test_nfd.py": {"test_what_rules_and_node_features_give"},
    "tests/integration/stack/nfd/test_nfd_upstream.py": {"test_an_nfd_of_somebody_else_s_chart"},
    "tests/integration/stack/operators/test_olm_bundles.py": {
        "test_a_driver_change_that_lies_in_an_image_is_read_and_allowed"
    },
    "tests/integration/stack/operators/test_olm_operator.py": {
        "test_an_exact_version_its_upgrade_and_its_removal"
    },
    "tests/integration/stack/operators/test_olm_upgrades.py": {
        "test_one_plan_after_another_up_to_the_wanted_csv"
    },
    "tests/integration/stack/operators/test_update_drivers.py": {
        "test_modules_of_kmm",
        "test_precompiled_drivers_and_the_images_that_are_there",
        "test_the_image_of_the_nic_driver",
    },
    "tests/integration/stack/test_backend_nicclusterpolicy.py": {
        "test_somebody_elses_policy_is_reported_then_taken"
    },
    "tests/integration/stack/test_cluster_policy.py": {
        "test_somebody_elses_policy_is_reported_and_taken_only_when_asked"
    },
    "tests/integration/stack/test_from_special_resource.py": {
        "test_killed_after_the_removal_and_gone_on_with"
    },
    "tests/integration/test_requests.py": {
        "test_the_whole_chain_again_while_every_gpu_is_busy_and_others_keep_their_fields"
    },
    "tests/integration/test_secrecy.py": {
        "test_a_password_and_its_token_are_nowhere_to_be_seen",
        "test_a_token_is_nowhere_to_be_seen",
    },
    "tests/integration/troubles/test_outage.py": {"test_twenty_seconds_without_api"},
}
CROWDED: set[str] = set()


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@functools.cache
def text(path: Path) -> list[str]:
    return path.read_text().splitlines()


def wide(path: Path) -> list[int]:
    """Return the numbers of the lines that are too wide; a row of a table in Markdown cannot be broken."""
    is_table = path.suffix == ".md"
    return [
        number
        for number, line in enumerate(text(path), 1)
        if len(line) > COLUMNS and not (is_table and line.startswith("|"))
    ]


def long_functions(path: Path) -> set[str]:
    """Return the names of functions that are too long, tests among them."""
    return {
        node.name
        for node in ast.walk(ast.parse("\n".join(text(path))))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > FUNCTION
    }


def code_lines(path: Path) -> int:
    """Return the number of lines without documentation blocks, imports, comments and blank lines."""
    papers: set[int] = set()
    for node in ast.parse("\n".join(text(path))).body:
        is_paper = (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in PAPERS
        )
        if is_paper or isinstance(node, ast.Import | ast.ImportFrom):
            papers |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(
        1
        for number, line in enumerate(text(path), 1)
        if number not in papers and line.strip() and not line.lstrip().startswith("#")
    )


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_lines_are_short(path: Path) -> None:
    assert not wide(path)


def test_ruff_refuses_wide_lines_but_in_the_folders_that_have_some() -> None:
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    assert ruff["pycodestyle"]["max-line-length"] == COLUMNS
    excused = {key for key, rules in ruff["per-file-ignores"].items() if "E501" in rules}
    assert {f"{name(path.parent)}/*.py" for path in PYTHON if wide(path)} == excused


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_a_file_and_its_functions_are_short(path: Path) -> None:
    """A worker of pytest-xdist runs whole files: short ones let all workers end together."""
    assert (len(text(path)) > LINES) == (name(path) in LONG), len(text(path))
    assert long_functions(path) == LONG_FUNCTIONS.get(name(path), set())


def test_a_folder_can_be_seen_at_a_glance() -> None:
    counted = collections.Counter(path.parent for path in PYTHON)
    assert len(counted) > 120
    assert {name(folder) for folder, number in counted.items() if number > FILES} == CROWDED


def test_the_lists_name_files_that_are_there() -> None:
    assert LONG | set(LONG_FUNCTIONS) <= {name(path) for path in PYTHON}


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_is_a_declaration(path: Path) -> None:
    assert code_lines(path) <= DECLARATION


@pytest.mark.parametrize("path", TASKS, ids=name)
def test_a_tasks_file_is_read_at_a_glance(path: Path) -> None:
    assert len(text(path)) <= (40 if path.name == "main.yml" else 80)


@pytest.mark.parametrize("path", READMES, ids=name)
def test_the_readme_of_a_role_is_short(path: Path) -> None:
    assert len(text(path)) <= 25
