# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn a task's options and environment into a connection to its API server."""

from __future__ import annotations

import base64
import datetime
import json
import math
import os
import re
import typing as t

from .._core import secrets
from .._core.errors import AcceleratorError, CredentialsError
from .connection import Connection, fast_pool, quiet, tls_context
from .credentials_settings import Params, settings

if t.TYPE_CHECKING:
    from .credentials_login import Login

_PEM = "-----BEGIN CERTIFICATE-----"
_VERSION, _UTC_TIME = 0xA0, 0x17
# An entry of a kubeconfig, secrets and all, as Python writes it.
_ENTRY = re.compile(r"\{.*\}", re.DOTALL)
# What the package's configuration calls our options.
_ATTRIBUTES = {
    "host": "host",
    "ca_cert": "ssl_ca_cert",
    "client_cert": "cert_file",
    "client_key": "key_file",
    "proxy": "proxy",
    "no_proxy": "no_proxy",
}


def connect(
    params: Params,
    environ: t.Mapping[str, str] | None = None,
    remaining: t.Callable[[], float] = lambda: math.inf,
) -> Connection:
    """Return a connection with the address, the pool and the headers of every request; nothing is opened yet.

    params: options of the task. environ: the environment, default os.environ. remaining: seconds that exec
    plugins and logins may take. Raises CredentialsError.
    """
    wanted = settings(params, os.environ if environ is None else environ)
    package = _package()
    configuration = _read(package, wanted, remaining())
    pool, expiry = _opened(package, configuration)
    login: Login | None = None
    if "username" in wanted and "api_key" not in wanted:
        # Most tasks have no password, and Ansible compiles again whatever a task loads.
        from .credentials_login import Login

        login = Login(lambda: str(package.login(configuration, wanted, remaining())))

    def renew() -> None:
        nonlocal configuration
        if login:
            login.renew()
        else:
            configuration = _read(package, wanted, remaining())
            package.forget()

    def headers() -> list[tuple[str, str]]:
        if login:
            configuration.api_key = {"authorization": f"Bearer {login.token()}"}
        return _headers(configuration, wanted)

    def tokens() -> list[str]:
        return login.tokens if login else []

    host, verified = str(configuration.host).rstrip("/"), bool(configuration.verify_ssl)
    nobody = "" if login else _nobody(configuration)
    return Connection(host, pool, verified, headers, renew, tokens, expiry, nobody)


def _opened(package: t.Any, configuration: t.Any) -> tuple[t.Any, tuple[str, datetime.datetime] | None]:
    """Return a pool of connections, none open yet, and which of the credentials expires first, and when."""
    try:
        pool = package.pool(configuration)
        fast_pool(pool, tls_context(configuration))
        expiry = _expiry(configuration)
    except (OSError, ValueError, TypeError) as exc:
        raise _unusable(exc) from exc
    finally:
        package.forget()
    if not configuration.verify_ssl:
        quiet()
    return pool, expiry


def _package() -> t.Any:
    """Return the file that imports the package kubernetes, which takes a quarter of a second."""
    from . import credentials_package

    if credentials_package.MISSING:
        raise credentials_package.absent("kubernetes", credentials_package.MISSING)
    return credentials_package


def _read(package: t.Any, wanted: Params, seconds: float) -> t.Any:
    """Return the credentials as they are now. seconds: how long that may take."""
    try:
        configuration = package.configuration(wanted, seconds)
        _override(configuration, wanted)
    except Exception as exc:
        package.forget()
        if isinstance(exc, AcceleratorError):
            raise
        # Whatever the package raises about a file that it does not understand.
        raise _unusable(exc) from exc
    return configuration


def _unusable(exc: Exception) -> CredentialsError:
    # The package names an entry of a kubeconfig by all that is in it.
    return CredentialsError("CRED-INVALID", problem=_ENTRY.sub("{...}", str(exc)))


def _override(configuration: t.Any, wanted: Params) -> None:
    for option, attribute in _ATTRIBUTES.items():
        if option in wanted:
            value = (
                os.path.expanduser(wanted[option]) if attribute.endswith(("cert", "file")) else wanted[option]
            )
            setattr(configuration, attribute, value)
    if "validate_certs" in wanted:
        configuration.verify_ssl = bool(wanted["validate_certs"])
    if "proxy_headers" in wanted:
        import urllib3.util

        configuration.proxy_headers = urllib3.util.make_headers(
            **{name: value for name, value in wanted["proxy_headers"].items() if value}
        )
    if "api_key" in wanted:
        configuration.api_key = {"authorization": f"Bearer {wanted['api_key']}"}


def _headers(configuration: t.Any, wanted: Params) -> list[tuple[str, str]]:
    headers: list[tuple[str, str]] = []
    for setting in configuration.auth_settings().values():
        if setting.get("in") == "header" and setting.get("value"):
            value = str(setting["value"]).strip()
            headers.append((setting["key"], value))
            secrets.register(value.removeprefix("Bearer ").removeprefix("bearer ").removeprefix("Basic "))
    if "impersonate_user" in wanted or "impersonate_groups" in wanted:
        headers += [("Impersonate-User", wanted["impersonate_user"])] if "impersonate_user" in wanted else []
        headers += [("Impersonate-Group", group) for group in wanted.get("impersonate_groups", ())]
    else:
        headers += getattr(configuration, "impersonation", ())
    return headers


def _nobody(configuration: t.Any) -> str:
    """Return, in words, why requests have no credentials, or "" if they have some."""
    if configuration.cert_file or configuration.auth_settings():
        return ""
    return (
        getattr(configuration, "nobody", "")
        or "host is set, and neither api_key nor client_cert nor username"
    )


def _expiry(configuration: t.Any) -> tuple[str, datetime.datetime] | None:
    """Return which of the credentials that nothing renews expires first, and when."""
    found = []
    if configuration.cert_file:
        with open(configuration.cert_file, encoding="utf-8", errors="replace") as file:
            found.append(("The client certificate", expiry_of_certificate(file.read())))
    if not getattr(configuration, "renewed", False):
        tokens = [
            str(setting["value"]).removeprefix("Bearer ")
            for setting in configuration.auth_settings().values()
        ]
        found += [("The token", expiry_of_token(token)) for token in tokens]
    known = [(what, end) for what, end in found if end is not None]
    return min(known, key=lambda pair: pair[1]) if known else None


def expiry_of_token(token: str) -> datetime.datetime | None:
    """Return the claim C(exp) of a JWT, or None for another token and for one that does not say."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        end = claims.get("exp")
        if isinstance(end, bool) or not isinstance(end, (int, float)):
            return None
        return datetime.datetime.fromtimestamp(end, datetime.UTC)
    except (ValueError, AttributeError, OverflowError, OSError):
        return None


def expiry_of_certificate(pem: str) -> datetime.datetime | None:
    """Return the end of the validity of the first certificate in a PEM text, or None if it cannot be read."""
    body = pem.partition(_PEM)[2].partition("-----END")[0]
    try:
        der = base64.b64decode(body)
        start = _element(der, _element(der, 0)[1])[1]
        tag, _start, end = _element(der, start)
        at = end if tag == _VERSION else start
        for _passed_over in ("serial number", "signature algorithm", "issuer"):
            at = _element(der, at)[2]
        not_before = _element(der, _element(der, at)[1])
        tag, start, end = _element(der, not_before[2])
        text = der[start:end].decode("ascii")
        if tag == _UTC_TIME:
            text = ("19" if text[:2] >= "50" else "20") + text
        # Not by strptime, whose first use imports a module in every worker.
        year, month, day, hour, minute, second = (
            int(text[:4]),
            *(int(text[place : place + 2]) for place in range(4, 14, 2)),
        )
        moment = datetime.datetime(year, month, day, hour, minute, second, tzinfo=datetime.UTC)
        return moment if text[14:] == "Z" else None
    except (ValueError, IndexError):
        return None


def _element(der: bytes, at: int) -> tuple[int, int, int]:
    """Return tag, start and end of the content of the DER element at an offset."""
    length, start = der[at + 1], at + 2
    if length & 0x80:
        size = length & 0x7F
        length, start = int.from_bytes(der[start : start + size], "big"), start + size
    return der[at], start, start + length


def expiry_warning(what: str, end: datetime.datetime, now: datetime.datetime, seconds: float) -> str | None:
    """Return the warning for something that expires within the seconds that the task may still take."""
    moment = f"{end.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC"
    if end <= now:
        return f"{what} expired at {moment}; the API server will not accept it any more."
    if end <= now + datetime.timedelta(seconds=seconds):
        return (
            f"{what} expires at {moment}, before the time for this task is over; "
            "the task fails when it needs longer."
        )
    return None
