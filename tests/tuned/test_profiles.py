"""Each shipped profile, read by the TuneD of Debian: it takes every plugin, option and include."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
from unit.tuning.builders import tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.profiles.shipped import SHIPPED
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned import check, profile

ROOT: t.Final = Path(__file__).resolve().parents[2]
BUILD: t.Final = ROOT / ".build/tuned"
READER: t.Final = Path(__file__).with_name("read_profiles.py")
WRONG: t.Final = "[main]\ninclude=openshift-node\n[cpu]\ngovernorr=performance\n"


@pytest.fixture(scope="module")
def package() -> Path:
    """Return the folder of the unpacked package; skip the tests where it cannot be had."""
    unpacked = BUILD / "unpacked"
    if (unpacked / "usr/lib/tuned").is_dir():
        return unpacked
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        pytest.skip("the Debian package tuned: this system has no apt-get or no dpkg-deb")
    BUILD.mkdir(parents=True, exist_ok=True)
    command = ["apt-get", "download", "tuned"]
    fetched = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, timeout=120, check=False)
    found = sorted(BUILD.glob("tuned_*.deb"))
    if fetched.returncode or not found:
        pytest.skip(f"the Debian package tuned cannot be had: {fetched.stderr.strip()[-300:]}")
    subprocess.run(["dpkg-deb", "-x", found[-1], unpacked], check=True, timeout=60)
    return unpacked


def read(package: Path, folder: Path, **texts: str) -> dict[str, t.Any]:
    for name, text in texts.items():
        (folder / name).mkdir()
        (folder / name / "tuned.conf").write_text(text)
    command = [sys.executable, *map(str, (READER, package, folder)), *texts]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, t.Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def shipped(package: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, t.Any]:
    """Return what TuneD makes of all shipped profiles, read in one process."""
    texts = {name: profile.text(tuning(profile=name)) for name in SHIPPED}
    return read(package, tmp_path_factory.mktemp("profiles"), **texts)


@pytest.mark.parametrize("name", SHIPPED)
def test_tuned_takes_a_shipped_profile(name: str, shipped: dict[str, t.Any]) -> None:
    found = shipped[name]
    assert found["said"] == []
    assert found["own"].keys() == profile.settings(tuning(profile=name)).keys()
    for one in SHIPPED[name].settings:
        assert found["units"][one.section][one.key] == one.value
    assert found["units"]["sysctl"]["net.ipv4.ip_forward"] == "1", "openshift-node is included"


def test_tuned_names_an_option_that_it_does_not_have(package: Path, tmp_path: Path) -> None:
    (said,) = read(package, tmp_path, wrong=WRONG)["wrong"]["said"]
    assert "governorr" in said


def test_the_plugins_of_the_check_are_those_of_tuned(package: Path) -> None:
    folder = package / "usr/lib/python3/dist-packages/tuned/plugins"
    assert {one.stem.removeprefix("plugin_") for one in folder.glob("plugin_*.py")} == set(check.PLUGINS)
