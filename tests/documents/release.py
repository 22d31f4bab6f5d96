"""What a release has beside the tarball: its SBOM in the CycloneDX format, and the signature of its manifest.

release.py TARBALL writes TARBALL.cdx.json; with a KEY of gpg it also writes TARBALL.MANIFEST.json.asc.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import typing as t
import uuid
from pathlib import Path

ROOT: t.Final = Path(__file__).resolve().parents[2]
MANIFEST: t.Final = "MANIFEST.json"
Data = dict[str, t.Any]


def manifest(tarball: Path) -> bytes:
    """Return MANIFEST.json of the tarball: the hash of FILES.json, which has the hash of every file."""
    with tarfile.open(tarball) as tar:
        found = tar.extractfile(MANIFEST)
        assert found is not None
        return found.read()


def packages() -> list[tuple[str, str]]:
    """Return name and version of each Python package of the execution environment."""
    return re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / "requirements-ee.txt").read_text(), re.MULTILINE)


def sbom(tarball: Path) -> Data:
    """Return the SBOM: the collection, the collections that it needs, and the packages that it runs with.

    The same tarball has the same SBOM: nothing in it is a time or random.
    """
    about = json.loads(manifest(tarball))["collection_info"]
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    own = _component("application", f"{about['namespace']}.{about['name']}", about["version"], "generic")
    own["hashes"] = [{"alg": "SHA-256", "content": digest}]
    own["licenses"] = [{"license": {"id": "GPL-3.0-or-later"}}]
    others = [
        {"type": "library", "bom-ref": name, "name": name, "description": f"Ansible collection {versions}"}
        for name, versions in sorted(about["dependencies"].items())
    ]
    others += [_component("library", name, version, "pypi") for name, version in packages()]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {"component": own},
        "components": others,
        "dependencies": [
            {"ref": own["bom-ref"], "dependsOn": [one["bom-ref"] for one in others]},
            *({"ref": one["bom-ref"]} for one in others),
        ],
    }


def _component(kind: str, name: str, version: str, registry: str) -> Data:
    purl = f"pkg:{registry}/{name}@{version}"
    return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}


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
