# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Credentials: which they are, who reads them, and the connection that they give."""

from __future__ import annotations

import datetime
import importlib.util
import math
import os
import re
import ssl
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    CredentialsError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    credentials_kept,
    credentials_plain,
    expiry,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import (
    Connection,
    fast_pool,
    quiet,
    tls_context,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.credentials_settings import (
    Params,
    settings,
)

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube.credentials_login import Login

MISSING = "" if importlib.util.find_spec("kubernetes") else "No module named 'kubernetes'"

# An entry of a kubeconfig, secrets and all, as Python writes it.
_ENTRY = re.compile(r"\{.*\}", re.DOTALL)
# What the client's configuration calls them.
_ATTRIBUTES = {
    "host": "host",
    "ca_cert": "ssl_ca_cert",
    "client_cert": "cert_file",
    "client_key": "key_file",
    "proxy": "proxy",
    "no_proxy": "no_proxy",
}


class _Opened(t.NamedTuple):
    """source: who has read the configuration. pool: connects with the first request. ends: what of it ends by itself, and when."""

    source: t.Any
    configuration: t.Any
    pool: t.Any
    ends: tuple[str, datetime.datetime] | None


def connect(
    params: Params,
    environ: t.Mapping[str, str] | None = None,
    remaining: t.Callable[[], float] = lambda: math.inf,
) -> Connection:
    """Opens nothing yet: a pool of connections, the address, and the headers of every request. remaining: seconds that plugins and logins may take."""
    wanted = settings(params, os.environ if environ is None else environ)
    source, configuration, pool, ends = credentials_kept.kept(wanted) or _open(wanted, remaining())
    if not configuration.verify_ssl:
        quiet()
    login: Login | None = None
    if "username" in wanted and "api_key" not in wanted:
        # Here, as most have no password: Ansible compiles anew whatever is loaded.
        from ansible_collections.accelerators.openshift.plugins.module_utils._kube.credentials_login import (
            Login,
        )

        login = Login(lambda: str(source.login(configuration, wanted, remaining())))

    def renew() -> None:
        nonlocal configuration
        if login:
            login.renew()
        else:
            again, configuration = _read(wanted, remaining())
            again.forget(configuration)

    def headers() -> list[tuple[str, str]]:
        if login:
            configuration.api_key = {"authorization": f"Bearer {login.token()}"}
        return _headers(configuration, wanted)

    host = str(configuration.host).rstrip("/")
    return Connection(
        host,
        pool,
        bool(configuration.verify_ssl),
        headers,
        renew,
        lambda: login.tokens if login else [],
        ends,
    )


def preload() -> str:
    """In a process that will fork: what every worker would otherwise pay for. The package only if the environment does not show that it can be spared.

    What is missing, or nothing.
    """
    # The first one of a process takes OpenSSL some milliseconds.
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        wanted = settings({}, os.environ)
        plain = credentials_plain.configuration(wanted)
        if plain is not None:
            credentials_plain.forget(plain)
            _override(plain, wanted)
            credentials_kept.keep(wanted, _files(plain), lambda: _open(wanted, math.inf))
            return MISSING
    except CredentialsError:
        pass  # the task that uses them says so
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
        credentials_package,
    )

    return credentials_package.MISSING


def _package() -> t.Any:
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
        credentials_package,
    )

    problem = MISSING or credentials_package.MISSING
    if problem:
        raise credentials_package.absent("kubernetes", problem)
    return credentials_package


def _open(wanted: Params, seconds: float) -> _Opened:
    source, configuration = _read(wanted, seconds)
    try:
        pool = source.pool(configuration)
        fast_pool(pool, tls_context(configuration))
        return _Opened(source, configuration, pool, _ends(configuration))
    except (OSError, ValueError, TypeError) as exc:
        raise _unusable(exc) from exc
    finally:
        source.forget(configuration)


def _files(plain: credentials_plain.Plain) -> list[str]:
    """Everything on a disk that plain credentials were read from."""
    named = (plain.ssl_ca_cert, plain.cert_file, plain.key_file)
    return [
        *plain.files,
        *(path for path in named if path and not path.startswith(credentials_plain.MEMORY)),
    ]


def _read(wanted: Params, seconds: float) -> tuple[t.Any, t.Any]:
    """Who reads the credentials, and what they are at this moment. seconds: how long that may take."""
    configuration: t.Any = credentials_plain.configuration(wanted)
    source: t.Any = credentials_plain if configuration else _package()
    try:
        configuration = configuration or source.configuration(wanted, seconds)
        _override(configuration, wanted)
    except Exception as exc:
        source.forget(configuration)
        if isinstance(exc, AcceleratorError):
            raise
        # Whatever the package raises about a file that it does not understand.
        raise _unusable(exc) from exc
    return source, configuration


def _unusable(exc: Exception) -> CredentialsError:
    # The package names an entry of a kubeconfig by all that is in it.
    text = _ENTRY.sub("{...}", str(exc))
    return CredentialsError(
        "CRED-INVALID",
        f"The credentials cannot be used: {text}",
        "Check kubeconfig, context, client_cert, client_key and ca_cert.",
    )


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


def _ends(configuration: t.Any) -> tuple[str, datetime.datetime] | None:
    """What of the credentials ends first, of that which nothing renews."""
    found = []
    if configuration.cert_file:
        with open(configuration.cert_file, encoding="utf-8", errors="replace") as file:
            found.append(("The client certificate", expiry.of_certificate(file.read())))
    if not getattr(configuration, "renewed", False):
        tokens = [
            str(setting["value"]).removeprefix("Bearer ")
            for setting in configuration.auth_settings().values()
        ]
        found += [("The token", expiry.of_token(token)) for token in tokens]
    known = [(what, end) for what, end in found if end is not None]
    return min(known, key=lambda one: one[1]) if known else None
