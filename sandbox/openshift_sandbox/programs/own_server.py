# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for a server of the sandbox's own: its certificate and its port have its name."""

from __future__ import annotations

import socket
import ssl
import time
import typing as t

from openshift_sandbox.sandbox import Sandbox, SandboxError

READY_SECONDS: t.Final = 60.0  # a busy machine; a server that died is noticed at once


def wait_ready(sandbox: Sandbox, name: str, without: str) -> None:
    """Wait until the server answers with our certificate, and not another process on the same port.

    `without` says what does not work without it. Raises SandboxError, or ProcessDied when the server ended.
    """
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
