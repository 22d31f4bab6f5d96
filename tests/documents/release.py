"""What a release has beside the tarball: its SBOM in the CycloneDX format, and the signature of its manifest.

release.py TARBALL writes TARBALL.cdx.json; with a KEY of gpg it also writes TARBALL.MANIFEST.json.asc.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import subprocess
import sys
import sysconfig
import tarfile
import typing as t
import uuid
from pathlib import Path

import yaml

ROOT: t.Final = Path(__file__).resolve().parents[2]
MANIFEST: t.Final = "MANIFEST.json"
# Of this collection, ansible-core and kubernetes.core.
LICENCE: t.Final = "GPL-3.0-or-later"
Data = dict[str, t.Any]


def manifest(tarball: Path) -> bytes:
    """Return MANIFEST.json of the tarball: the hash of FILES.json, which has the hash of every file."""
    with tarfile.open(tarball) as tar:
        found = tar.extractfile(MANIFEST)
        assert found is not None
        return found.read()


def packages() -> list[tuple[str, str, str]]:
    """Return name, version and licence of each Python package of the execution environment."""
    locked = (ROOT / "requirements-ee.txt").read_text()
    return [
        (name, version, licence)
        for licence, name, version in re.findall(r"^# (.+)\n([a-z0-9.-]+)==(\S+)", locked, re.MULTILINE)
    ]


def ansible() -> t.Iterator[Data]:
    """Yield ansible-core and the collections that this one needs, in the versions of the tests."""
    core = importlib.metadata.version("ansible-core")
    yield _component("library", "ansible-core", core, "pypi", LICENCE)
    for name in yaml.safe_load((ROOT / "galaxy.yml").read_text())["dependencies"]:
        path = Path(sysconfig.get_path("purelib"), "ansible_collections", *name.split("."), MANIFEST)
        version = json.loads(path.read_text())["collection_info"]["version"]
        yield _component("library", name, version, "generic", LICENCE)


def sbom(tarball: Path) -> Data:
    """Return the SBOM: the collection, Ansible, the collections that it needs, and the Python packages.

    The same tarball has the same SBOM: nothing in it is a time or random.
    """
    about = json.loads(manifest(tarball))["collection_info"]
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    name = f"{about['namespace']}.{about['name']}"
    own = _component("application", name, about["version"], "generic", LICENCE)
    own["hashes"] = [{"alg": "SHA-256", "content": digest}]
    others = [
        *ansible(),
        *(_component("library", name, version, "pypi", licence) for name, version, licence in packages()),
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {"component": own},
        "components": others,
        "dependencies": [
            {"ref": own["bom-ref"], "dependsOn": [component["bom-ref"] for component in others]},
            *({"ref": component["bom-ref"]} for component in others),
        ],
    }


def _component(kind: str, name: str, version: str, registry: str, licence: str) -> Data:
    """Return the component. licence: one of SPDX, or an expression of several."""
    purl = f"pkg:{registry}/{name}@{version}"
    said = {"expression": licence} if " " in licence else {"license": {"id": licence}}
    return {
        "type": kind,
        "bom-ref": purl,
        "name": name,
        "version": version,
        "licenses": [said],
        "purl": purl,
    }


def sign(tarball: Path, key: str) -> Path:
    """Write the signature of the manifest and return its path: `ansible-galaxy` checks it."""
    found = tarball.with_name(f"{tarball.name}.{MANIFEST}.asc")
    command = ["gpg", "--batch", "--yes", "--armor", "--detach-sign", "--local-user", key]
    subprocess.run([*command, "--output", str(found), "-"], input=manifest(tarball), check=True)
    return found


def main(tarball: Path, key: str = "") -> None:
    written = tarball.with_name(f"{tarball.name}.cdx.json")
    written.write_text(json.dumps(sbom(tarball), indent=2) + "\n")
    if key:
        sign(tarball, key)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
