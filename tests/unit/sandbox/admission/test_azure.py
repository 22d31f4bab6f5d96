"""Resource ids of Azure."""

from __future__ import annotations

import pytest
from unit.sandbox.admission.builders import GROUP

from openshift_sandbox.stand_ins.admission.azure import resource_id_error


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (GROUP, False),
        (f"azure://{GROUP}", False),
        ("/subscriptions", True),
        ("/subscriptions/1/resourceGroups", True),
    ],
)
def test_ids_of_azure_s_resources(text: str, wrong: bool) -> None:
    assert bool(resource_id_error(text)) == wrong
