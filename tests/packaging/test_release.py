"""What is beside the tarball: a signature that `ansible-galaxy` checks, and an SBOM of every package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import typing as t
from pathlib import Path

import pytest
from documents import release

BIN: t.Final = Path(sys.executable).parent
KEY: t.Final = "release@example.com"
NAME: t.Final = "accelerators.openshift"
INSTALLED: t.Final = "collections/ansible_collections/accelerators/openshift"


class Home:
    """A home with an installed collection and the public key. signature: of the release's manifest."""

    def __init__(self, path: Path, tarball: Path) -> None:
        self.path, self.tarball = path, tarball
        (path / ".gnupg").mkdir(mode=0o700)
        self.keyring = path / "keyring.kbx"
        self.run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", KEY, "ed25519", "sign")
        public = self.run("gpg", "--export", KEY).stdout
        (path / "public.gpg").write_bytes(public)
        public_ring = ["gpg", "--no-default-keyring", "--keyring", str(self.keyring), "--import"]
        self.run(*public_ring, str(path / "public.gpg"))

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
        environment = {
            "HOME": str(self.path),
            "GNUPGHOME": str(self.path / ".gnupg"),
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_COLLECTIONS_PATH": str(self.path / "collections"),
            "ANSIBLE_COLLECTIONS_SCAN_SYS_PATH": "false",
        }
        return subprocess.run(command, env=environment, cwd=self.path, capture_output=True, check=check)

    def verify(self, signature: Path) -> tuple[int, str]:
        """Return the exit status and the output of `ansible-galaxy collection verify`."""
        options = ["--offline", "--keyring", str(self.keyring), "--signature", signature.as_uri()]
        done = self.run("ansible-galaxy", "collection", "verify", *options, NAME, check=False)
        return done.returncode, (done.stdout + done.stderr).decode()


@pytest.fixture(scope="module")
def home(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Home]:
    if not shutil.which("gpg"):
        pytest.skip("gpg is not installed")
    found = Home(tmp_path_factory.mktemp("home"), tarball)
    options = ["--offline", "--no-deps", "-p", str(found.path / "collections"), str(tarball)]
    found.run("ansible-galaxy", "collection", "install", *options)
    yield found
    found.run("gpgconf", "--kill", "gpg-agent", check=False)


@pytest.fixture(scope="module")
def signature(home: Home) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNUPGHOME", str(home.path / ".gnupg"))
        return release.sign(home.tarball, KEY)


def test_the_installed_collection_is_what_was_signed(home: Home, signature: Path) -> None:
    status, output = home.verify(signature)
    assert status == 0, output
    assert "GNUPG signature verification failed" not in output


def test_a_file_that_somebody_changed_is_found(home: Home, signature: Path) -> None:
    path = home.path / INSTALLED / "plugins/modules/access_token.py"
    before = path.read_bytes()
    path.write_bytes(before + b"\n# changed\n")
    status, output = home.verify(signature)
    path.write_bytes(before)
    assert status != 0
    assert "plugins/modules/access_token.py" in output


def test_a_manifest_that_fits_the_change_lacks_the_signature(home: Home, signature: Path) -> None:
    path = home.path / INSTALLED / release.MANIFEST
    before = path.read_bytes()
    path.write_bytes(before + b"\n")
    status, output = home.verify(signature)
    path.write_bytes(before)
    assert status != 0, output


def test_the_sbom_names_the_collection_and_every_package(tarball: Path) -> None:
    found = release.sbom(tarball)
    own = found["metadata"]["component"]
    assert own["purl"] == "pkg:generic/accelerators.openshift@1.0.0"
    named = {one["name"]: one.get("version") for one in found["components"]}
    assert {name: named[name] for name, _version in release.packages()} == dict(release.packages())
    assert "kubernetes.core" in named
    refs = [one["bom-ref"] for one in found["components"]]
    assert len(set(refs)) == len(refs)
    assert found["dependencies"][0] == {"ref": own["bom-ref"], "dependsOn": refs}


def test_the_sbom_of_a_tarball_never_changes(tarball: Path, tmp_path: Path) -> None:
    copy = tmp_path / tarball.name
    copy.write_bytes(tarball.read_bytes())
    release.main(copy)
    release.main(tarball)
    texts = [path.with_name(f"{path.name}.cdx.json").read_text() for path in (copy, tarball)]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["bomFormat"] == "CycloneDX"


def test_the_manifest_covers_every_file(tarball: Path) -> None:
    with tarfile.open(tarball) as tar:
        files = tar.extractfile("FILES.json")
        assert files is not None
        listed = {one["name"] for one in json.load(files)["files"] if one["ftype"] == "file"}
        names = {one.name for one in tar.getmembers() if one.isfile()}
    assert names - listed == {release.MANIFEST, "FILES.json"}
