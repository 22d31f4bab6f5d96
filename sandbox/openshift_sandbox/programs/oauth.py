# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the stand-in for OpenShift's OAuth server: users, their passwords, and the API server's webhook."""

from __future__ import annotations

import json
import secrets
import sys
import typing as t

from openshift_sandbox import kubeconfig
from openshift_sandbox.pki import Authority
from openshift_sandbox.programs import own_server
from openshift_sandbox.sandbox import Sandbox

NAME: t.Final = "oauth"
# kubeadmin is the administrator that the installer makes. developer may do nothing, and has a password
# with characters outside ASCII.
LOGINS: t.Final = {"kubeadmin": ("kube:admin", ["system:cluster-admins"]), "developer": ("developer", [])}
START: t.Final = {"developer": "pässwörd-€-"}
OAUTH_GROUP: t.Final = "system:authenticated:oauth"


def url(sandbox: Sandbox) -> str:
    """Return the address that answers as an API server of OpenShift with OAuth."""
    return f"https://127.0.0.1:{sandbox.port(NAME)}"


def users(sandbox: Sandbox) -> dict[str, dict[str, t.Any]]:
    """Return the users by name, with their passwords and groups."""
    found: dict[str, dict[str, t.Any]] = json.loads((sandbox.run / "oauth-users.json").read_text())
    return found


def prepare(sandbox: Sandbox) -> None:
    """Make a certificate, the users' passwords, and the kubeconfig of the webhook."""
    authority = Authority(sandbox.run / "pki")
    authority.server(NAME)
    file = sandbox.run / "oauth-users.json"
    if not file.exists():
        file.touch(mode=0o600)
        entries = {
            login: {"password": secrets.token_urlsafe(18), "user": user, "groups": [*groups, OAUTH_GROUP]}
            for login, (user, groups) in LOGINS.items()
        }
        file.write_text(json.dumps(entries, indent=2) + "\n")
    kubeconfig.write(
        sandbox.run / "oauth-webhook.kubeconfig",
        f"{url(sandbox)}/tokenreview",
        authority.certificate,
        "kube-apiserver",
    )


def start(sandbox: Sandbox) -> None:
    """Start the server."""
    sandbox.processes.start(
        NAME, [sys.executable, "-m", "openshift_sandbox.stand_ins.oauth.server", "--dir", sandbox.directory]
    )


def wait_ready(sandbox: Sandbox) -> None:
    """Wait until the server answers. Raises SandboxError, or ProcessDied when it ended."""
    own_server.wait_ready(sandbox, NAME, "nobody logs anybody in")
