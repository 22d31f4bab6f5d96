"""The lookup of the offline catalogue."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleLookupError

from ansible_collections.accelerators.openshift.plugins.lookup import gpu_instance_types


def names(*terms: str, **filters: str) -> list[str]:
    return [kind.name for kind in gpu_instance_types.select(list(terms), **filters)]


def test_by_name() -> None:
    assert names("p4d.24xlarge", "g4dn.xlarge") == ["p4d.24xlarge", "g4dn.xlarge"]


def test_by_model() -> None:
    assert names(cloud="aws", model="a100") == ["p4d.24xlarge", "p4de.24xlarge"]


def test_by_vendor() -> None:
    assert names(cloud="aws", vendor="intel") == ["dl1.24xlarge"]


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(AnsibleLookupError, match=r"POOL-INSTANCE-TYPE: g4dn\.xlrage .* Nearest: g4dn\.xlarge"):
        names("g4dn.xlrage", cloud="aws")
