# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a TLS client says first."""

from __future__ import annotations

import ssl

import pytest


def check_protocols_stay(context: ssl.SSLContext) -> None:
    """Check that HTTP/1.1 is the only protocol that a context offers, also after a try to set another one."""
    context.set_alpn_protocols(["of-another-thread"])
    sent = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="api.example").do_handshake()
    hello = sent.read()
    assert b"\x08http/1.1" in hello
    assert b"of-another-thread" not in hello
