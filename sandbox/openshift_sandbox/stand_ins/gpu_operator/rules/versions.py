# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of the driver that a pod installs."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.gpu_operator.operands import DRIVER_VERSION, Object

# Older drivers that releases of the GPU operator name by digest (sandbox/catalog).
DIGESTS: t.Final = {"f8e3dc9111c5a7a0cfac73e87d03c0b7b3d1e11f3b61654cca5461847660aa2c": "580.126.20"}


def driver(pod: Object) -> str:
    """Return the version by the tag, or the digest, of the image; that of the newest release when unknown."""
    _image, colon, tag = pod["spec"]["containers"][0]["image"].rpartition(":")
    if known := DIGESTS.get(tag):
        return known
    return str(tag.partition("-")[0]) if colon and tag[:1].isdigit() and "." in tag else DRIVER_VERSION
