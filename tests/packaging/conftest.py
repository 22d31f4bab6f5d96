"""The tarball as it is released."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from documents import rights

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rights.write()
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [Path(sys.executable).parent / "ansible-galaxy", "collection", "build", "--output-path", out],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (path,) = out.glob("accelerators-openshift-*.tar.gz")
    return path
