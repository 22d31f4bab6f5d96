# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""A connection to one API server: address, pool of sockets and headers."""

from __future__ import annotations

import datetime
import functools
import ipaddress
import os
import socket
import ssl
import typing as t
import warnings
import weakref
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from .._core import secrets
from .._core.errors import ApiError, CredentialsError
from .._core.refusals import NOBODY

try:
    import urllib3
    from urllib3 import HTTPHeaderDict

    # What a broken connection looks like: refused, reset, timed out, cut off in the middle of a body.
    TRANSPORT_ERRORS: tuple[type[Exception], ...] = (urllib3.exceptions.HTTPError, OSError)
except ImportError:  # `credentials` names the missing package before the first request
    TRANSPORT_ERRORS = (OSError,)


_POOLS: t.Final[weakref.WeakSet[t.Any]] = weakref.WeakSet()


def _drop_sockets() -> None:
    """Drop the sockets: two processes on one socket would read each other's answers."""
    for pool in _POOLS:
        pool.clear()


os.register_at_fork(after_in_child=_drop_sockets)


@dataclass(frozen=True)
class Connection:
    """Where requests go, and with which credentials.

    host: URL without a trailing slash. pool: a urllib3 PoolManager. verified: the server's certificate is
    checked.
    headers: returns the credentials of this moment as pairs; a token may have been refreshed.
    renew: reads the credentials again, after the server did not accept them.
    tokens: returns the tokens that were issued for this connection, to be revoked at its end.
    expiry: which of the credentials expires first, and when.
    nobody: why requests have no credentials, in words; empty if they have some.
    """

    host: str
    pool: t.Any
    verified: bool
    headers: t.Callable[[], list[tuple[str, str]]]
    renew: t.Callable[[], None] = lambda: None
    tokens: t.Callable[[], list[str]] = list
    expiry: tuple[str, datetime.datetime] | None = None
    nobody: str = ""

    @property
    def proxy(self) -> str:
        """The address of the proxy on the way, without user and password; empty without one."""
        url = getattr(self.pool, "proxy", None)
        return f"{url.scheme}://{url.host}:{url.port}" if url is not None else ""

    def check_identity(self, status: int, text: str) -> None:
        """Raise AcceleratorError if the server refused for a reason that is known here.

        status, text: of the answer; status 0 is a broken TLS handshake.
        """
        is_about_us = status in (0, 401) or (status == 403 and NOBODY in text)
        if self.nobody and status and is_about_us:
            raise CredentialsError("CRED-NOBODY", why=self.nobody, answer=text)
        if self.expiry and is_about_us and self.expiry[1] <= datetime.datetime.now(datetime.UTC):
            what, end = self.expiry
            expired = f" ({what} expired at {end.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC)"
            raise ApiError("CRED-UNAUTHORIZED", server=self.host, also=expired, answer=text, status=status)

    @functools.cached_property
    def is_near(self) -> bool:
        """Whether the server is on this machine, where it is faster to send than to compress."""
        name = urlsplit(self.host).hostname or ""
        try:
            return name == "localhost" or ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False

    def send(
        self,
        method: str,
        path: str,
        headers: t.Mapping[str, str],
        body: bytes | None,
        connect: float,
        read: float,
        total: float | None = None,
        anonymous: bool = False,
    ) -> t.Any:
        """Send a request once, without redirects, and return the response; its body is not read yet.

        connect, read, total: timeouts in seconds for the connection, the next byte, and the whole answer.
        anonymous: without token. Raises one of TRANSPORT_ERRORS.
        """
        together = HTTPHeaderDict(headers)
        for name, value in () if anonymous else self.headers():
            together.add(name, value)
        if total is not None and not self.is_near:
            # Not for a watch: a proxy would hold events back until they fill a block of compression.
            together.add("Accept-Encoding", "gzip")
        timeout = urllib3.Timeout(connect=connect, read=read, total=total)
        return self.pool.request(
            method,
            self.host + path,
            body=body,
            headers=together,
            timeout=timeout,
            retries=False,
            redirect=False,
            preload_content=False,
        )


def tls_context(configuration: t.Any) -> ssl.SSLContext | None:
    """Return what the package's configuration says about certificates, or None without TLS."""
    if not str(configuration.host).startswith("https"):
        return None
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert or None)
    # CAs of older installers lack extensions that a strict check (the default from Python 3.13) needs.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if configuration.cert_file:
        # A key with a password is an error: there is nobody to type it.
        context.load_cert_chain(configuration.cert_file, configuration.key_file or None, password="")
    context.set_alpn_protocols(["http/1.1"])
    # urllib3 would set them for each connection, while another thread's connection reads them.
    vars(context)["set_alpn_protocols"] = list
    return context


def fast_pool(pool: t.Any, tls: ssl.SSLContext | None) -> None:
    """Set up a pool: certificates from memory instead of files, no Nagle delay, none outlives a fork.

    TCP keep-alive notices a dead peer in half a minute.
    """
    _POOLS.add(pool)
    _authenticate_to_proxy(pool)
    options = pool.connection_pool_kw
    if tls is not None:
        for name in ("cert_file", "key_file", "ca_certs", "ca_cert_data", "cert_reqs"):
            options.pop(name, None)
        options["ssl_context"] = tls
        if tls.verify_mode == ssl.CERT_NONE:
            options["cert_reqs"] = "CERT_NONE"
            options["assert_hostname"] = False
    sockets = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1), (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, seconds in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            sockets.append((socket.IPPROTO_TCP, getattr(socket, name), seconds))
    options["socket_options"] = sockets
    options["maxsize"] = 8


def quiet() -> None:
    """Silence urllib3's warning for each request: one Ansible warning says that no certificate is checked."""
    warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)


def _authenticate_to_proxy(pool: t.Any) -> None:
    """Send user and password of a proxy's address, as other clients do; urllib3 leaves them out."""
    proxy = getattr(pool, "proxy", None)
    if (
        proxy is None
        or not proxy.auth
        or any(name.lower() == "proxy-authorization" for name in pool.proxy_headers)
    ):
        return
    who = unquote(proxy.auth)
    secrets.register(who.partition(":")[2])
    pool.proxy_headers.update(urllib3.util.make_headers(proxy_basic_auth=who))
