"""What is beside the tarball: a signature that `ansible-galaxy` checks, and an SBOM of every package."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import typing as t
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from documents import release
from license_expression import get_spdx_licensing

BIN: t.Final = Path(sys.executable).parent
KEY: t.Final = "release@example.com"
NAME: t.Final = "accelerators.openshift"
INSTALLED: t.Final = "collections/ansible_collections/accelerators/openshift"


@contextlib.contextmanager
def galaxy(tarball: Path) -> t.Iterator[str]:
    """Serve the tarball as Galaxy does, and return the address."""
    with tempfile.TemporaryDirectory() as folder:
        root, own = Path(folder), "api/v3/collections/accelerators/openshift"
        (root / "api").mkdir()
        shutil.copy(tarball, root / "api/release.tar.gz")
        about = json.loads(release.manifest(tarball))["collection_info"]
        version = {
            "namespace": {"name": about["namespace"]},
            "collection": {"name": about["name"]},
            "version": about["version"],
            "download_url": "/api/release.tar.gz",
            "artifact": {"sha256": hashlib.sha256(tarball.read_bytes()).hexdigest()},
            "metadata": {"dependencies": about["dependencies"]},
            "href": f"/{own}/versions/{about['version']}/",
        }
        pages: dict[str, object] = {
            "api": {"available_versions": {"v3": "v3/"}},
            own: {},
            f"{own}/versions": {"data": [{"version": about["version"]}], "links": {"next": None}},
            f"{own}/versions/{about['version']}": version,
        }
        for name, page in pages.items():
            (root / name).mkdir(parents=True, exist_ok=True)
            (root / name / "index.html").write_text(json.dumps(page))
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/api/"
            server.shutdown()


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

    def galaxy(self, verb: str, *arguments: str, signature: Path) -> tuple[int, str]:
        """Return the exit status and the output of `ansible-galaxy collection`, as docs/guide.md calls it."""
        options = ["--keyring", str(self.keyring), "--signature", signature.as_uri()]
        done = self.run("ansible-galaxy", "collection", verb, *options, *arguments, check=False)
        return done.returncode, (done.stdout + done.stderr).decode()

    def install(self, tarball: Path, signature: Path, folder: str = "collections") -> tuple[int, str]:
        options = [
            "--force",
            "--no-deps",
            "--required-valid-signature-count",
            "+all",
            "-p",
            str(self.path / folder),
        ]
        with galaxy(tarball) as server:
            return self.galaxy("install", *options, "--server", server, NAME, signature=signature)

    def verify(self, signature: Path) -> tuple[int, str]:
        return self.galaxy("verify", "--offline", NAME, signature=signature)


@pytest.fixture(scope="module")
def home(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Home]:
    if not shutil.which("gpg"):
        pytest.skip("gpg is not installed")
    found = Home(tmp_path_factory.mktemp("home"), tarball)
    yield found
    found.run("gpgconf", "--kill", "gpg-agent", check=False)


@pytest.fixture(scope="module")
def signature(home: Home) -> Path:
    """Return the signature, after the collection has been installed with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNUPGHOME", str(home.path / ".gnupg"))
        found = release.sign(home.tarball, KEY)
    status, output = home.install(home.tarball, found)
    assert status == 0, output
    return found


def test_a_tarball_that_somebody_changed_is_not_installed(home: Home, signature: Path) -> None:
    changed = home.path / home.tarball.name
    with tarfile.open(home.tarball) as old, tarfile.open(changed, "w:gz") as new:
        for member in old.getmembers():
            file = old.extractfile(member)
            data = (file.read() if file else b"") + (b"\n" if member.name == release.MANIFEST else b"")
            member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    status, output = home.install(changed, signature, "elsewhere")
    assert status != 0
    assert "GnuPG signature verification failed" in output
    assert list(home.path.glob("elsewhere/ansible_collections/*/openshift")) == []


def test_the_installed_collection_is_what_was_signed(home: Home, signature: Path) -> None:
    status, output = home.verify(signature)
    assert status == 0, output
    assert "ignature verification failed" not in output


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


def test_the_sbom_names_each_dependency_with_version_and_licence(tarball: Path) -> None:
    found = release.sbom(tarball)
    own = found["metadata"]["component"]
    assert own["purl"] == "pkg:generic/accelerators.openshift@1.0.0"
    named = {component["name"]: component["version"] for component in found["components"]}
    locked = re.findall(r"^(\S+)==(\S+)", (release.ROOT / "requirements-ee.txt").read_text(), re.MULTILINE)
    assert set(locked) == {*named.items()} - {
        (name, named[name]) for name in ("ansible-core", "kubernetes.core")
    }
    assert f"ansible-core=={named['ansible-core']}\n" in (release.ROOT / "requirements-dev.txt").read_text()
    refs = [component["bom-ref"] for component in found["components"]]
    assert len(set(refs)) == len(refs)
    assert found["dependencies"][0] == {"ref": own["bom-ref"], "dependsOn": refs}


def test_the_sbom_is_what_its_format_allows_and_its_licences_are_known(tarball: Path) -> None:
    found = release.sbom(tarball)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(found)) is None
    spdx = get_spdx_licensing()
    for component in [found["metadata"]["component"], *found["components"]]:
        (said,) = component["licenses"]
        licence = said["expression"] if "expression" in said else said["license"]["id"]
        assert spdx.validate(licence).errors == [], component["name"]


def test_an_sbom_without_its_version_is_refused(tarball: Path) -> None:
    found = release.sbom(tarball)
    del found["specVersion"]
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(found)) is not None


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
