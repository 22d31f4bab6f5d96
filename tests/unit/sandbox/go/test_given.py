"""Programs that the user has: which variable names which file, which version fits, what remains to build."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest

from openshift_sandbox import build
from openshift_sandbox.go import given, progress, toolchain
from openshift_sandbox.sandbox import SandboxError

ANSWERS: t.Final = {
    "etcd": "etcd Version: 3.6.8\nGit SHA: Not provided\nGo Version: go1.26.8\n",
    "kube-apiserver": "Kubernetes v1.36.4\n",
    "kube-controller-manager": "Kubernetes v1.36.1\n",
    "kube-scheduler": "Kubernetes v1.36.1\n",
    "kubectl": "Client Version: v1.36.1\nKustomize Version: v5.8.1\n",
    "kwok": "kwok version v0.8.0 go1.26.8 (linux/amd64)\n",
    "nfd-master": "nfd-master undefined\n",
    "olm": "OLM version: \ngit commit: \n",
    "catalog": "OLM version: 0.46.0\ngit commit: 1f3\n",
    "opm": 'Version: version.Version{OpmVersion:"unknown", GitCommit:"", GoOs:"linux"}\n',
}
ENVTEST: t.Final = ("etcd", "kube-apiserver", "kubectl")
PINS: t.Final = {
    name: given.pinned(family.go_mod, package)
    for family in build.FAMILIES
    for name, package in given.tools(family.go_mod).items()
}
WANTED: t.Final = {family.name: family.programs for family in build.FAMILIES}


def fill(folder: Path, names: t.Iterable[str] = tuple(ANSWERS)) -> Path:
    """Write a folder of programs that no test starts."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"a program: {name}")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture(autouse=True)
def answers(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What programs answer, by the name of their file."""
    texts = {**ANSWERS, "server": ANSWERS["etcd"]}
    monkeypatch.setattr(given, "_answer", lambda argv: texts[Path(argv[0]).name])
    return texts


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty build folder, whose CRDs are collected, on a machine without Go and without the variables."""
    monkeypatch.setattr(build, "BUILD", tmp_path / "build")
    monkeypatch.setattr(build, "_collected_current", lambda: True)
    monkeypatch.setattr(toolchain, "find", lambda: pytest.fail("a build begins"))
    for variable in (
        given.FOLDER,
        given.ENVTEST,
        *(name for names in given.PATHS.values() for name in names),
    ):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path / "build" / "bin"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The programs that were compiled, by family."""
    found: dict[str, list[str]] = {}

    def compile_family(_go: object, family: build.Family, names: t.Sequence[str], *_rest: object) -> None:
        found[family.name] = list(names)

    monkeypatch.setattr(toolchain, "find", lambda: Path("go"))
    monkeypatch.setattr(build, "_compile", compile_family)
    return found


def refusal(environment: dict[str, str]) -> str:
    with pytest.raises(SandboxError) as caught:
        given.find(WANTED, PINS, environment)
    return str(caught.value)


@pytest.mark.parametrize("family", [*build.FAMILIES, *build.OPTIONAL], ids=lambda family: family.name)
def test_each_program_of_a_family_is_a_tool_of_its_go_mod(family: build.Family) -> None:
    assert set(given.tools(family.go_mod)) == set(family.programs)


def test_the_pins_are_those_that_the_build_says() -> None:
    assert f"gitVersion={PINS['kube-apiserver']} " in build.FAMILIES[0].ldflags
    assert PINS["server"].startswith("v3.")
    assert set(given.QUESTIONS) == {name for family in build.FAMILIES for name in family.programs}


def test_a_folder_with_everything_leaves_nothing_to_build(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = fill(tmp_path / "mine")
    monkeypatch.setenv("SANDBOX_PROGRAMS", str(folder))
    build.build()
    assert (target / "control-plane/server").resolve() == folder / "etcd"
    assert (target / "olm/opm").resolve() == folder / "opm"
    said = capsys.readouterr().err
    assert f"etcd 3.6.8: {folder / 'etcd'} (from SANDBOX_PROGRAMS), no build" in said
    assert f"nfd-master of a version that it does not say: {folder / 'nfd-master'}" in said
    monkeypatch.delenv("SANDBOX_PROGRAMS")
    build.build()
    assert capsys.readouterr().err == ""


def test_the_programs_of_envtest_are_left_out_of_the_build(
    target: Path,
    compiled: dict[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(fill(tmp_path / "envtest", ENVTEST)))
    build.build()
    remaining = ["kube-controller-manager", "kube-scheduler", "kwok", "nfd-master"]
    assert compiled == {"control-plane": remaining, "olm": ["olm", "catalog", "opm"]}
    assert (target / "control-plane/kubectl").is_symlink()
    said = capsys.readouterr().err
    text = f"builds its programs now, once: control-plane ({', '.join(remaining)}); olm (olm, catalog, opm)."
    assert text in said
    assert f"How long   {progress.minutes(compiled)} on two cores" in said


def test_a_program_that_is_there_is_not_built_again(
    target: Path, compiled: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fill(tmp_path / "mine")
    monkeypatch.setenv("SANDBOX_PROGRAMS", str(folder))
    build.build()
    monkeypatch.delenv("SANDBOX_PROGRAMS")
    (folder / "kwok").unlink()
    build.build()
    assert compiled == {"control-plane": ["kwok"]}


def test_the_compiler_never_writes_through_a_link(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fill(tmp_path / "mine")
    monkeypatch.setenv("SANDBOX_PROGRAMS", str(folder))
    build.build()
    (target / "olm/stamp").write_text("other pins")
    monkeypatch.delenv("SANDBOX_PROGRAMS")
    go = tmp_path / "go"
    go.write_text(f"#!/bin/sh\nfor name in olm catalog opm; do echo built >{target}/olm/$name; done\n")
    go.chmod(0o755)
    monkeypatch.setattr(toolchain, "find", lambda: go)
    monkeypatch.setattr(build, "_followed", lambda child, *_rest: child.wait())
    build.build()
    assert (target / "olm/olm").read_text() == "built\n"
    assert (folder / "olm").read_text() == "a program: olm"


def test_the_build_folder_itself_may_be_named(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for family, names in WANTED.items():
        fill(target / family, names)
    monkeypatch.setenv("SANDBOX_PROGRAMS", str(target))
    build.build()
    assert (target / "control-plane/kubectl").read_text() == "a program: kubectl"


def test_the_own_folder_counts_before_paths_and_paths_before_envtest(tmp_path: Path) -> None:
    own, other = fill(tmp_path / "own", ["kubectl"]), fill(tmp_path / "other", ["etcd"])
    environment = {
        "SANDBOX_PROGRAMS": str(own),
        "ETCD": str(other / "etcd"),
        "TEST_ASSET_KUBECTL": "/nowhere/kubectl",
        "KUBEBUILDER_ASSETS": str(fill(tmp_path / "envtest", ENVTEST)),
    }
    found = {one.name: one.variable for one in given.find(WANTED, PINS, environment)}
    assert found == {"server": "ETCD", "kube-apiserver": "KUBEBUILDER_ASSETS", "kubectl": "SANDBOX_PROGRAMS"}


@pytest.mark.parametrize(
    ("variable", "value", "text"),
    [
        ("SANDBOX_PROGRAMS", "nowhere", "there is no folder"),
        ("KUBEBUILDER_ASSETS", "empty", "has none of etcd, kube-apiserver, kubectl"),
        ("TEST_ASSET_KUBE_APISERVER", "nowhere", "there is no file"),
        ("KUBE_APISERVER", "empty", "there is no file"),
        ("ETCD", "plain", "is not executable (`chmod +x "),
        ("ETCD", "kubectl", "is not etcd: `"),
        ("ETCD", "plain/etcd", "there is no file"),
        ("ETCD", "e" * 300, "cannot be read: File name too long"),
        ("SANDBOX_PROGRAMS", "e" * 300, "cannot be read: File name too long"),
        ("KUBEBUILDER_ASSETS", "plain", "there is no folder"),
    ],
)
def test_a_path_that_does_not_fit_is_refused_by_the_name_of_its_variable(
    tmp_path: Path, variable: str, value: str, text: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "plain").write_text("")
    fill(tmp_path, ["kubectl"])
    said = refusal({variable: str(tmp_path / value)})
    assert said.startswith(f"{variable}: ")
    assert text in said
    assert f"`unset {variable}`" in said


def test_a_home_of_nobody_and_a_closed_folder_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refusal({"ETCD": "~nobody-here/etcd"}).startswith("ETCD: ~nobody-here/etcd cannot be read: ")

    def denied(_path: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", denied)
    said = refusal({"KUBEBUILDER_ASSETS": str(fill(tmp_path / "envtest", ENVTEST))})
    assert f"KUBEBUILDER_ASSETS: {tmp_path}/envtest/etcd cannot be read: Permission denied." in said


def test_a_relative_path_is_of_the_folder_in_which_the_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "mine", ["kubectl"])
    monkeypatch.chdir(tmp_path)
    (found,) = given.find(WANTED, PINS, {"SANDBOX_PROGRAMS": "mine"})
    assert found.path == tmp_path / "mine/kubectl"


@pytest.mark.parametrize(
    "answer", ["Kubernetes v1.35.9\n", "Kubernetes v1.3.6\n", "Kubernetes v0.0.0-master+$Format\n"]
)
def test_another_minor_version_is_refused_before_anything_is_linked(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: dict[str, str], answer: str
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(fill(tmp_path / "envtest", ENVTEST)))
    answers["kube-apiserver"] = answer
    with pytest.raises(
        SandboxError, match=r"and the sandbox needs a version 1\.36 .*`setup-envtest use 1\.36\.x"
    ):
        build.build()
    assert not target.exists()


def test_a_build_takes_as_long_as_the_packages_of_its_programs() -> None:
    names = {family.name: family.programs for family in build.FAMILIES}
    assert progress.minutes(names) == "7 to 13 minutes"
    assert (
        progress.minutes({"control-plane": ["kwok", "nfd-master"], "olm": names["olm"]}) == "4 to 8 minutes"
    )
    assert progress.minutes({"control-plane": ["kubectl"]}) == "about a minute"
    now = progress.Progress({"control-plane": ["kwok"], "olm": ["opm"]})
    log = ["go: downloading a", *("package" for _ in range(488))]
    text = "488 of about 976 packages compiled; 42% of the packages of the build, about 2 min 20 s left"
    assert now.describe("control-plane", log, 100.0) == f"control-plane: {text}"
