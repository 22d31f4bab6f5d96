# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for a server of the sandbox's own, which has a certificate of its authority and a port of the same name."""

from __future__ import annotations

import socket
import ssl
import time
import typing as t

from openshift_sandbox.sandbox import Sandbox, SandboxError

READY_SECONDS: t.Final = 20.0


def wait_ready(sandbox: Sandbox, name: str, without: str) -> None:
    """Until it answers, and not somebody else who has taken its port; at once when it died. without: what does not work while it is away."""
    context = ssl.create_default_context(cafile=sandbox.run / "pki" / "ca.crt")
    deadline = time.monotonic() + READY_SECONDS
    while (problem := _silence(context, sandbox.port(name))) is not None:
        sandbox.processes.check(name)
        if time.monotonic() > deadline:
            raise SandboxError(
                f"{without} after {READY_SECONDS:.0f} s: {problem}; see {sandbox.logs / f'{name}.log'}"
            )
        time.sleep(0.05)


def _silence(context: ssl.SSLContext, port: int) -> OSError | None:
    address = ("127.0.0.1", port)
    try:
        with (
            socket.create_connection(address, 1.0) as connection,
            context.wrap_socket(connection, server_hostname=address[0]),
        ):
            return None
    except OSError as error:
        return error
