# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""A connection to another server of the cluster, behind its ingress, with the token of the API server."""

from __future__ import annotations

import ssl
import typing as t
from dataclasses import replace

import urllib3

from .connection import Connection, fast_pool


def connection_to(host: str, here: Connection, authorities: str) -> Connection:
    """Return a connection to a server, with the token of `here` and no other identity.

    host: URL without a trailing slash. authorities: PEM text of the authorities of its certificate that
    neither the system nor `here` has. Raises OSError for a text that is no certificate.
    """

    def token() -> list[tuple[str, str]]:
        return [(name, value) for name, value in here.headers() if name.lower() == "authorization"]

    made = replace(here, host=host, headers=token, tokens=list, ends=None, nobody="")
    if not hasattr(here.pool, "connection_pool_kw"):  # no PoolManager: it cares for certificates itself
        return made
    return replace(made, pool=_pool(here.pool, authorities, made.is_near))


def _pool(pool: t.Any, authorities: str, is_near: bool) -> t.Any:
    """Return a pool that trusts the authorities of a pool, of the system and of a PEM text.

    It goes through the same proxy, unless the server is on this machine, and has no client certificate.
    """
    known = pool.connection_pool_kw.get("ssl_context")
    tls = ssl.create_default_context()
    # A bundle may have no more than the certificate of the ingress itself.
    tls.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    # CAs of older installers do not pass the strict check.
    tls.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    if known is not None:
        if trusted := b"".join(known.get_ca_certs(binary_form=True)):
            tls.load_verify_locations(cadata=trusted)
        if known.verify_mode == ssl.CERT_NONE:
            tls.check_hostname = False
            tls.verify_mode = ssl.CERT_NONE
    if authorities:
        tls.load_verify_locations(cadata=authorities)
    proxy = None if is_near else getattr(pool, "proxy", None)
    made = (
        urllib3.PoolManager()
        if proxy is None
        else urllib3.ProxyManager(proxy.url, proxy_headers=pool.proxy_headers)
    )
    fast_pool(made, tls)
    return made
