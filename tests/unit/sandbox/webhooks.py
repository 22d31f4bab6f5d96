"""The directory of a sandbox whose webhooks are served, and what is registered in a world."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

from unit.sandbox.fake_api import World

from openshift_sandbox.programs import admission

Object = dict[str, t.Any]
PORT = 20443


def served(directory: Path) -> Path:
    """Write the port of the server and the certificate of the authority; return the directory."""
    ports = {admission.NAME: PORT, "etcd": 20379}
    (directory / "state.json").write_text(json.dumps({"processes": {}, "ports": ports}))
    (directory / "run" / "pki").mkdir(parents=True)
    (directory / "run" / "pki" / "ca.crt").write_text("ca")
    return directory


def registered(world: World, name: str, kind: str = "ValidatingWebhookConfiguration") -> Object:
    """Return the one webhook of a configuration; its address must be that of the server."""
    (webhook,) = world.api.get(kind, name)["webhooks"]
    assert webhook["clientConfig"]["url"].startswith(f"https://127.0.0.1:{PORT}/")
    assert isinstance(webhook, dict)
    return webhook
