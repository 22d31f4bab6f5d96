# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the sandbox's programs from their pinned go.mod folders, once; collect the CRDs in their modules.

Programs that the user has already are linked into the folder of built programs, and not built.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import threading
import time
import typing as t
from dataclasses import dataclass
from pathlib import Path

from openshift_sandbox.catalogue import crds
from openshift_sandbox.go import copied, given, manifests, modules, toolchain
from openshift_sandbox.go.progress import Progress, announce, duration
from openshift_sandbox.programs import control_plane, kueue, kwok, olm, prometheus, registry
from openshift_sandbox.sandbox import BUILD, SOURCES, SandboxError, say
from openshift_sandbox.scenario import Scenario

PROGRESS_SECONDS: t.Final = 10.0
TIMEOUT_SECONDS: t.Final = 3600.0
_VERSION: t.Final = "k8s.io/component-base/version"


@dataclass(frozen=True)
class Family:
    """A folder under sandbox/build: programs that share the versions of their dependencies."""

    name: str
    programs: tuple[str, ...]
    ldflags: str = "-s -w"
    tags: str = ""
    copied: copied.Copied | None = None
    manifests: manifests.Manifests | None = None

    @property
    def source(self) -> Path:
        """The folder with its go.mod."""
        return SOURCES / "build" / self.name

    @property
    def target(self) -> Path:
        """The folder of its programs."""
        return BUILD / "bin" / self.name

    @property
    def go_mod(self) -> str:
        """The text of its go.mod."""
        return (self.source / "go.mod").read_text()

    @property
    def flags(self) -> list[str]:
        """The flags of `go build`."""
        return ["-trimpath", "-ldflags", self.ldflags, *(["-tags", self.tags] if self.tags else [])]


FAMILIES: t.Final = (
    Family(
        control_plane.FAMILY,
        (
            "server",
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
            "kubectl",
            "kwok",
            "nfd-master",
        ),
        ldflags=f"-s -w -X {_VERSION}.gitVersion=v1.36.1 -X {_VERSION}.gitMajor=1 -X {_VERSION}.gitMinor=36",
    ),
    Family(olm.FAMILY, ("olm", "catalog", "opm"), tags="containers_image_openpgp exclude_graphdriver_btrfs"),
)
# Families that few scenarios need: `sandbox build` leaves them out, unless --with names them.
OPTIONAL: t.Final = (
    Family(
        prometheus.FAMILY,
        ("prometheus", "promtool"),
        # Plugins find targets in clouds, and a build of them takes long. A module has no built pages.
        copied=copied.Copied(
            "github.com/prometheus/prometheus",
            "v0.305.0",
            without=("plugins/plugins.go", "web/ui/mantine-ui", "web/ui/react-app", "documentation"),
        ),
    ),
    Family(
        kueue.FAMILY,
        ("kueue",),
        manifests=manifests.Manifests(
            "sigs.k8s.io/kueue",
            "v0.19.2",
            ("config/components/crd/bases", "config/components/webhook/manifests.yaml"),
        ),
    ),
    Family(registry.FAMILY, ("registry",)),
)


def families_of(scenario: Scenario) -> tuple[Family, ...]:
    """Return the families that a scenario's cluster needs: OLM only where the cluster has it."""
    wanted = {one.FAMILY: one.wanted for one in (olm, prometheus, kueue, registry)}
    return tuple(one for one in (*FAMILIES, *OPTIONAL) if wanted.get(one.name, bool)(scenario))


def named(names: t.Iterable[str]) -> tuple[Family, ...]:
    """Return the usual families and these optional ones. Raises SandboxError for a name that is none."""
    known, chosen = {one.name: one for one in OPTIONAL}, set(names)
    if strange := sorted(chosen - known.keys()):
        raise SandboxError(f"--with {','.join(strange)}: choose from {', '.join(known)}")
    return (*FAMILIES, *(known[name] for name in known if name in chosen))


def built(name: str) -> bool:
    """Return whether the programs of an optional family are there, as its pins are now."""
    return any(one.name == name and _current(one) for one in OPTIONAL)


def build(families: t.Sequence[Family] = FAMILIES) -> None:
    """Build the programs that are missing or whose pins changed; collect the CRDs likewise.

    Programs that the environment names are linked instead. Raises SandboxError when one of those does not
    fit, a build fails or a Go module is not available.
    """
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = {family: names for family in families if (names := _missing(family))}
        stale = _link_given(missing) if missing else {}
        collected = _collected_current()
        if not stale and collected:
            return
        started = time.monotonic()
        if stale:
            programs = {family.name: names for family, names in stale.items()}
            say(announce(programs, len(os.sched_getaffinity(0))))
            progress = Progress(programs)
        go = toolchain.find()
        for family, names in stale.items():
            _compile(go, family, names, progress, started)
        if not collected:
            _collect(go)
        if stale:
            say(f"the sandbox's programs are built; this took {duration(time.monotonic() - started)}")


def stamp(family: Family) -> str:
    """Return a digest of everything that the programs depend on: flags and pins."""
    digest = hashlib.sha256(" ".join(family.flags).encode())
    for name in ("go.mod", "go.sum", "main.go"):
        if (family.source / name).exists():
            digest.update((family.source / name).read_bytes())
    return digest.hexdigest()


def go_environment() -> dict[str, str]:
    """Return the environment of the `go` program: no cgo, no other toolchain, no workspace."""
    return {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOFLAGS": "-buildvcs=false",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }


def _current(family: Family) -> bool:
    return not _missing(family)


def _missing(family: Family) -> tuple[str, ...]:
    """Return the programs that are not there, or that other pins made."""
    file = family.target / "stamp"
    is_pinned = file.exists() and file.read_text() == stamp(family)
    return tuple(name for name in family.programs if not (is_pinned and (family.target / name).exists()))


def _link_given(missing: t.Mapping[Family, t.Sequence[str]]) -> dict[Family, tuple[str, ...]]:
    """Link the programs that the environment names; return those that remain to be compiled.

    Raises SandboxError.
    """
    pins = {
        name: given.pinned(family.go_mod, package)
        for family in missing
        for name, package in given.tools(family.go_mod).items()
        if name in given.QUESTIONS
    }
    wanted = {family.name: names for family, names in missing.items()}
    found = {program.name: program for program in given.find(wanted, pins, os.environ)}
    for family, names in missing.items():
        family.target.mkdir(parents=True, exist_ok=True)
        for program in (found[name] for name in names if name in found):
            _link(program, family.target / program.name)
        if found.keys() >= set(names):
            (family.target / "stamp").write_text(stamp(family))
    remaining = {
        family: tuple(name for name in names if name not in found) for family, names in missing.items()
    }
    return {family: names for family, names in remaining.items() if names}


def _link(program: given.Given, place: Path) -> None:
    if place.resolve() != program.path:
        place.unlink(missing_ok=True)
        place.symlink_to(program.path)
    version = program.version or "of a version that it does not say"
    say(f"{given.shown(program.name)} {version}: {program.path} (from {program.variable}), no build")


def _compile(
    go: Path, family: Family, names: t.Sequence[str], progress: Progress, build_started: float
) -> None:
    family.target.mkdir(parents=True, exist_ok=True)
    (BUILD / "logs").mkdir(exist_ok=True)
    log = BUILD / "logs" / f"build-{family.name}.log"
    say(f"building {family.name} ({', '.join(given.shown(name) for name in names)}); log: {log}")
    started = time.monotonic()
    _prepare(go, family)
    for place in (family.target / name for name in names):
        # The compiler would write through a link, over a program of the user.
        if place.is_symlink():
            place.unlink()
    packages = given.tools(family.go_mod)
    chosen = [packages[name] for name in names]
    argv = [str(go), "build", "-v", *family.flags, "-o", f"{family.target}/", *chosen]
    with log.open("w") as output:
        child = subprocess.Popen(
            argv,
            cwd=family.source,
            env=go_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        status = _followed(child, family, log, progress, build_started)
    if status:
        raise SandboxError(
            f"go build of {family.name} failed ({status}); the last lines of {log}:\n"
            + "\n".join(log.read_text().splitlines()[-15:])
        )
    (family.target / "stamp").write_text(stamp(family))
    progress.finish(family.name)
    say(f"{family.name} built in {duration(time.monotonic() - started)}")


def _prepare(go: Path, family: Family) -> None:
    """Make what the family needs beside its programs. Raises SandboxError."""
    env = go_environment()
    try:
        if family.copied:
            copied.make(go, family.copied, BUILD / "src" / family.name, SOURCES / "build/modules", env)
        if family.manifests:
            manifests.collect(go, family.manifests, family.target, family.source, env)
    except (RuntimeError, subprocess.SubprocessError) as error:
        raise SandboxError(f"Go module not available: {error}") from error


def _followed(
    child: subprocess.Popen[bytes], family: Family, log: Path, progress: Progress, build_started: float
) -> int:
    """Print one line every ten seconds until the compiler ends; return its exit status.

    The compiler is ended when this function leaves early.
    """
    deadline = time.monotonic() + TIMEOUT_SECONDS
    try:
        while time.monotonic() < deadline:
            try:
                return child.wait(PROGRESS_SECONDS)
            except subprocess.TimeoutExpired:
                seconds = time.monotonic() - build_started
                say(progress.describe(family.name, log.read_text().splitlines(), seconds), build_started)
        raise SandboxError(
            f"go build of {family.name} took more than {TIMEOUT_SECONDS / 60:.0f} minutes: see {log}"
        )
    finally:
        if child.poll() is None:
            child.terminate()
            child.wait()


def _collect(go: Path) -> None:
    started = time.monotonic()
    with_sums = SOURCES / "build" / "modules"
    results: dict[str, Path] = {}
    failures: list[Exception] = []

    def fetch(module: str) -> None:
        try:
            results[module] = modules.folder(go, module, with_sums, go_environment())
        except (RuntimeError, subprocess.SubprocessError) as error:
            failures.append(error)

    threads = [threading.Thread(target=fetch, args=(module,)) for module in modules.MODULES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise SandboxError(f"Go module not available: {failures[0]}")
    crds.collect(results)
    kwok.collect(results["sigs.k8s.io/kwok"])
    (BUILD / "crds" / "stamp").write_text(_collected_stamp())
    say("CRDs and KWOK's stages collected from their modules", started)


def _collected_current() -> bool:
    file = BUILD / "crds" / "stamp"
    return file.exists() and file.read_text() == _collected_stamp() and kwok.COLLECTED.exists()


def _collected_stamp() -> str:
    return hashlib.sha256(Path(modules.__file__).read_bytes() + Path(crds.__file__).read_bytes()).hexdigest()
