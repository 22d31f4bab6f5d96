"""Every file of plugins/module_utils has its unit tests under its own name, or stands here with a reason."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from unit.rules.test_layers import FILES, ROOT, STEPS, own, package

UNIT = ROOT / "tests/unit"

# The tests of their own package run them, through the files that these tests are named after.
WITH_THEIR_PACKAGE = {
    "_awx/addresses",
    "_awx/credential_types",
    "_awx/notifications",
    "_catalogue/gpus",
    "_core/errors",
    "_diagnosis/options",
    "_diagnosis/seen",
    "_gather/bundle",
    "_gather/summary",
    "_kube/credentials_kubeconfig",
    "_kube/watch",
    "_kube/writes",
    "_machines/autoscaler_limits",
    "_machines/machine_set",
    "_machines/trouble",
    "_nfd/features",
    "_nodes/node",
    "_nodes/taints",
    "_olm/csv",
    "_olm/custom_resources",
    "_olm/group",
    "_olm/observed",
    "_olm/settings",
    "_platforms/baremetal",
    "_platforms/ibm",
    "_platforms/nutanix",
    "_platforms/openstack",
    "_platforms/platform",
    "_platforms/registry",
    "_platforms/vsphere",
    "_pools/candidates",
    "_pools/conflicts",
    "_pools/draft",
    "_pools/markets",
    "_pools/model",
    "_pools/platform_options",
    "_pools/rules",
    "_stack/clusterpolicy/node",
    "_stack/dra/node",
    "_stack/drivers/toolkit",
    "_stack/kmm/images",
    "_stack/kmm/node",
    "_stack/nicclusterpolicy/node",
    "_stack/operands",
    "_workload/programs/devices",
    "_workload/programs/images",
    "_workload/programs/nvidia_smi",
    "_workload/programs/program",
    "_workload/programs/vectoradd",
    "_workload/options",
}
# Small nouns that the tests of another package run: the first one that needs them.
WITH_ANOTHER_PACKAGE = {
    "_catalogue/kueue": "queue",
    "_core/input": "platforms",
    "_frame/new_namespace": "quota",
    "_core/objects": "stack/clusterpolicy",
    "_core/secrets": "kube",
    "_frame/dry_run": "tuning",
    "_nodes/claims": "workload",
    "_nodes/devices": "stack/clusterpolicy",
    "_nodes/labels": "stack/clusterpolicy",
    "_nodes/formatting": "repair",
    "_nodes/system": "stack/clusterpolicy",
}
# No unit test runs them.
WITHOUT = {
    "_frame/adopt_or_apply": "it works on an Api: the twelve steps of every module run it on a cluster",
    "_frame/argspec": "options that all modules share: rules/test_params.py reads them",
    "_stack/dra/manifest": "tests/integration/stack/test_enable_gpus_dra.py applies what it builds",
}


def folder(name: str) -> Path:
    """Return where the tests of a file lie: the path of its package, without underscores."""
    return UNIT.joinpath(*(part.lstrip("_") for part in package(name).split("/")))


def is_data(name: str) -> bool:
    """Return whether a file only declares: constants, types, options."""
    return not any(isinstance(node, ast.FunctionDef) for node in ast.walk(ast.parse(FILES[name].read_text())))


def named(name: str) -> set[str]:
    """Return the test files that have the name of a file, or its name and a subject."""
    stems = {other.rpartition("/")[2].lstrip("_") for other in FILES if package(other) == package(name)}
    stem = name.rpartition("/")[2].lstrip("_")
    longer = tuple(f"test_{one}" for one in stems if one.startswith(f"{stem}_"))
    return {
        path.name
        for path in folder(name).glob("test_*.py")
        if (path.stem == f"test_{stem}" or path.stem.startswith(f"test_{stem}_"))
        and not path.stem.startswith(longer)
    }


@functools.cache
def reached(tests: Path) -> frozenset[str]:
    """Return the files that the tests in a folder import, and all that these import."""
    found: set[str] = set()
    ahead = {name for path in tests.glob("test_*.py") for name in own(path)}
    while ahead:
        found |= ahead
        ahead = {other for name in ahead for other in own(FILES[name])} - found
    return frozenset(found)


NEED_TESTS = [name for name in FILES if name not in STEPS and not is_data(name)]


def test_a_file_has_its_tests() -> None:
    """Files of STEPS are left out: integration tests run them on a cluster."""
    excused = {*WITH_THEIR_PACKAGE, *WITH_ANOTHER_PACKAGE, *WITHOUT}
    assert {name for name in NEED_TESTS if not named(name)} == excused


def test_the_lists_name_files_that_need_tests() -> None:
    assert {*WITH_THEIR_PACKAGE, *WITH_ANOTHER_PACKAGE, *WITHOUT} <= set(NEED_TESTS)
    assert not WITH_THEIR_PACKAGE & set(WITH_ANOTHER_PACKAGE)
    assert all(reason for reason in WITHOUT.values())


def test_other_tests_reach_a_file_without_tests_of_its_name() -> None:
    homes = {name: folder(name) for name in WITH_THEIR_PACKAGE}
    homes |= {name: UNIT / home for name, home in WITH_ANOTHER_PACKAGE.items()}
    assert [name for name, home in homes.items() if name not in reached(home)] == []
