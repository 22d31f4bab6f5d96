"""What a device plugin offers."""

from __future__ import annotations

from openshift_sandbox.stand_ins.device_plugins.any_vendor import offered


def test_what_a_plugin_offers_is_in_its_arguments() -> None:
    pod = {"spec": {"containers": [{"args": ["--resource-name=a/b", "--devices=3"]}]}}
    assert offered(pod) == ("a/b", 3)
    assert offered({"spec": {"containers": [{"args": ["--devices=3"]}, {}]}}) is None
