"""The cases of all platforms: platform, patch of a provider specification, and the words of a refusal."""

from __future__ import annotations

from unit.sandbox.admission.builders import Data
from unit.sandbox.admission.cases import aws, azure, gcp, nutanix, vsphere

REFUSED: list[tuple[str, Data, str]] = [
    *aws.REFUSED,
    *azure.REFUSED,
    *gcp.REFUSED,
    *vsphere.REFUSED,
    *nutanix.REFUSED,
]
ACCEPTED: list[tuple[str, Data]] = [
    *aws.ACCEPTED,
    *azure.ACCEPTED,
    *gcp.ACCEPTED,
    *vsphere.ACCEPTED,
    *nutanix.ACCEPTED,
]
