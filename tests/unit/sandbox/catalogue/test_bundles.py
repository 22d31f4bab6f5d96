# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bundles that a catalogue names as images."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from unit.sandbox.catalogue.builders import bundle, load, values

from openshift_sandbox.catalogue import bundles
from openshift_sandbox.catalogue.crds import read
from openshift_sandbox.scenario import Scenario


def test_a_bundle_in_an_image_is_named_by_its_digest_and_laid_out(tmp_path: Path) -> None:
    trouble = {"type": "bundle_image", "package": "nfd"}
    blob, nfd = bundle("nfd", None, trouble), load("nfd", trouble)
    assert values(blob, "olm.bundle.object") == []
    assert re.fullmatch(r"registry\.example\.com/bundles/nfd@sha256:[0-9a-f]{64}", blob["image"])
    bundles.lay_out(tmp_path, [nfd, load("kueue-operator", trouble)], Scenario("x", troubles=[trouble]))
    assert len(list((tmp_path / "bundles").iterdir())) == len(nfd.versions)
    folder = bundles.folder(tmp_path, blob["image"])
    (csv,) = read(folder / "manifests" / "nfd.clusterserviceversion.yaml")
    assert csv == nfd.csv(nfd.versions[-1])
    assert (
        yaml.safe_load((folder / "metadata" / "annotations.yaml").read_text())["annotations"][
            "operators.operatorframework.io.bundle.package.v1"
        ]
        == "nfd"
    )
    bundles.lay_out(tmp_path, [nfd], Scenario("x", troubles=[trouble | {"missing": True}]))
    assert not folder.exists()
