"""The packages of plugins/module_utils: each imports only packages before it, and only some files do I/O."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PLUGINS = ROOT / "plugins"
UTILS = PLUGINS / "module_utils"
PREFIX = "ansible_collections.accelerators.openshift.plugins.module_utils"

# A package imports only itself and packages before it. A folder inside a package is a package too.
ORDER = (
    "_core/codes",
    "_core",
    "_kube",
    "_catalogue",
    "_platforms",
    "_frame",
    "_access",
    "_nodes",
    "_impact",
    "_tuning/profiles",
    "_tuning",
    "_tuning/tuned",
    "_sharing",
    "_virtualization",
    "_policy",
    "_networks",
    "_pools",
    "_machines",
    "_machines/steps",
    "_nfd",
    "_olm",
    "_stack",
    "_stack/drivers",
    "_stack/clusterpolicy",
    "_stack/nvidiadriver",
    "_stack/dra",
    "_stack/nicclusterpolicy",
    "_stack/kmm",
    "_stack/custom",
    "_stack/sro",
    "_pull_secret",
    "_monitoring",
    "_use",
    "_operators",
    "_removal",
    "_update",
    "_drift",
    "_render",
    "_quota",
    "_queue",
    "_hardware_profiles",
    "_workload/programs",
    "_workload",
    "_workload/proofs",
    "_mirrors",
    "_upgrade/jobs",
    "_upgrade",
    "_repair",
    "_diagnosis",
    "_gather",
    "_awx",
    "_report",
)
# A registry stands above what it lists: it may import every folder of its package.
REGISTRIES = {"_stack/backend", "_workload/programs/registry"}

# Files that do steps: they work on an Api. All others outside _kube and _frame build, judge and summarize.
STEPS = {
    "_gather/steps",
    "_impact/consent",
    "_access/grant_steps",
    "_access/steps",
    "_access/tenant_steps",
    "_access/token_steps",
    *(f"_machines/steps/{one}" for one in ("autoscaling", "bare_metal", "health", "joining", "machines")),
    *(f"_machines/steps/{one}" for one in ("nodes", "pool_objects", "propagation", "provision")),
    *(f"_machines/steps/{one}" for one in ("removal", "replacement", "writes")),
    "_hardware_profiles/steps",
    "_nfd/groups",
    "_nfd/removal",
    "_nfd/steps",
    "_nodes/dra_steps",
    "_nodes/drain_steps",
    "_nodes/evictions",
    "_nodes/sentinel_steps",
    "_nodes/free_steps",
    "_olm/busy",
    "_olm/driver_change",
    "_olm/elsewhere",
    "_olm/helm_values",
    "_olm/operators",
    "_olm/removal_steps",
    "_olm/several",
    "_olm/unpack",
    *("_mirrors/registry", "_mirrors/steps"),
    "_networks/steps",
    *(f"_monitoring/{one}" for one in ("querier", "steps")),
    *(f"_operators/{one}" for one in ("channels", "foresight", "jobs", "steps", "health")),
    "_policy/admission_steps",
    "_policy/steps",
    "_pools/steps",
    "_pull_secret/steps",
    "_quota/cluster_steps",
    "_quota/limit_range_steps",
    "_quota/offered",
    "_queue/instance_steps",
    "_queue/removal_steps",
    "_queue/served",
    "_queue/steps",
    "_quota/steps",
    "_removal/steps",
    *(f"_repair/{one}" for one in ("host_steps", "look_steps", "reboot_steps", "replaced_steps", "steps")),
    "_sharing/claim_steps",
    "_sharing/mig_steps",
    "_sharing/repartition_steps",
    "_sharing/steps",
    "_stack/backend",
    "_stack/clusterpolicy/migration",
    "_stack/clusterpolicy/preconditions",
    "_stack/clusterpolicy/steps",
    "_stack/custom/steps",
    "_diagnosis/pod_steps",
    "_diagnosis/walk",
    "_stack/diagnose",
    "_stack/dra/steps",
    "_stack/drivers/steps",
    "_stack/kmm/steps",
    "_stack/kmm/versions",
    "_stack/nicclusterpolicy/steps",
    "_stack/nvidiadriver/steps",
    "_stack/sro/steps",
    "_stack/steps",
    "_stack/virtual_machine_steps",
    "_tuning/rollout_steps",
    "_tuning/rollout_waits",
    "_tuning/rollout_writes",
    "_tuning/tuned/steps",
    "_tuning/user_data_steps",
    "_update/pause_steps",
    "_update/steps",
    "_use/steps",
    "_virtualization/steps",
    "_upgrade/empty_steps",
    "_upgrade/gate_steps",
    "_upgrade/look_steps",
    "_upgrade/queue_steps",
    "_upgrade/rollback_steps",
    "_upgrade/run_steps",
    "_upgrade/steps",
    "_upgrade/wave_steps",
    "_workload/idle_steps",
    "_workload/proofs/claim_proof_steps",
    "_workload/proofs/consumer_steps",
    "_workload/proofs/proof_steps",
    "_workload/gate_steps",
    "_workload/removal_steps",
    "_workload/run_steps",
    "_workload/proofs/preemption_steps",
    "_workload/proofs/sharing_proof_steps",
    "_workload/proofs/steps",
    "_workload/steps",
}
CLIENTS = {"kubernetes", "openshift"}
CLIENT_FILE = "_kube/credentials_package"
IMPURE = CLIENTS | {
    "ansible",
    "http",
    "os",
    "pathlib",
    "requests",
    "socket",
    "ssl",
    "subprocess",
    "threading",
    "time",
    "urllib3",
}


def util(path: Path) -> str:
    """Return the name of a file below module_utils, such as `_core/errors`."""
    return path.relative_to(UTILS).with_suffix("").as_posix()


FILES = {util(path): path for path in sorted(UTILS.glob("*/**/*.py"))}
NOUNS = sorted(
    name
    for name in FILES
    if not name.startswith(("_kube/", "_frame/")) and name not in STEPS and not name.endswith("__init__")
)


SOURCES = sorted(PLUGINS.rglob("*.py"))


def package(name: str) -> str:
    return name.rpartition("/")[0]


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """Return every module that a file imports: at its top, in functions, and for types alone."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = absolute(path, node)
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def absolute(path: Path, node: ast.ImportFrom) -> str:
    """Return the full name of the module that an import names. Only utils name one another relatively."""
    if not node.level:
        is_own = str(node.module).startswith(PREFIX)
        assert not (is_own and path.is_relative_to(UTILS)), f"{path}: import relatively"
        return str(node.module)
    assert path.is_relative_to(UTILS), f"{path}: import by full name"
    parents = [PREFIX, *path.relative_to(UTILS).parent.parts]
    return ".".join([*parents[: len(parents) - node.level + 1], *([node.module] if node.module else [])])


@functools.cache
def own(path: Path) -> frozenset[str]:
    """Return the utils that a file imports, such as `_core/errors`."""
    names = {name.removeprefix(f"{PREFIX}.").replace(".", "/") for name in imports(path) if PREFIX in name}
    return frozenset(name for name in names if name in FILES)


def test_every_package_has_its_place() -> None:
    assert {package(name) for name in FILES} == set(ORDER)


def is_allowed(name: str, other: str) -> bool:
    """Return whether a file may import another: of its package, of one before it, or what it registers."""
    is_registered = name in REGISTRIES and other.startswith(package(name))
    return is_registered or ORDER.index(package(other)) <= ORDER.index(package(name))


def test_a_package_imports_only_packages_before_it() -> None:
    assert [
        (name, other) for name in FILES for other in own(FILES[name]) if not is_allowed(name, other)
    ] == []


def test_no_circles() -> None:
    done: set[str] = set()

    def walk(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for other in sorted(own(FILES[name])):
                walk(other, (*trail, name))
            done.add(name)

    for name in FILES:
        walk(name, ())
    assert done == set(FILES)


def test_a_private_file_is_imported_only_by_its_package() -> None:
    assert [
        (str(path), name)
        for path in SOURCES
        for name in own(path)
        if name.rpartition("/")[2].startswith("_") and not path.is_relative_to(FILES[name].parent)
    ] == []


def test_a_package_itself_holds_only_its_docstring() -> None:
    """Ansible packs the `__init__` of a package with each of its files, and with all that it imports."""
    bodies = {name: ast.parse(FILES[name].read_text()).body for name in FILES if name.endswith("__init__")}
    assert len(bodies) > 40
    assert [name for name in bodies if [type(node) for node in bodies[name]] != [ast.Expr]] == []


def test_nouns_are_pure() -> None:
    """A noun builds, judges and summarizes: no I/O, no clock, no client, no Ansible."""
    heads = {name: {one.partition(".")[0] for one in imports(FILES[name])} & IMPURE for name in NOUNS}
    assert {name: found for name, found in heads.items() if found} == {}
    assert [name for name in NOUNS if "_kube/client" in own(FILES[name])] == []


def test_every_file_of_steps_works_on_an_api() -> None:
    assert {name for name in STEPS if "_kube/client" not in own(FILES[name])} == set()


def test_only_one_file_imports_the_client() -> None:
    users = [path for path in SOURCES if CLIENTS & {name.partition(".")[0] for name in imports(path)}]
    assert users == [FILES[CLIENT_FILE]]


def test_the_one_fail_json() -> None:
    users = [path.relative_to(PLUGINS) for path in PLUGINS.rglob("*.py") if "fail_json(" in path.read_text()]
    assert users in ([], [Path("module_utils/_frame/module.py")])
