# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Turn a task's options and environment into a connection to its API server."""

from __future__ import annotations

import datetime
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
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import expiry
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
    try:
        pool = package.pool(configuration)
        fast_pool(pool, tls_context(configuration))
        ends = _ends(configuration)
    except (OSError, ValueError, TypeError) as exc:
        raise _unusable(exc) from exc
    finally:
        package.forget()
    if not configuration.verify_ssl:
        quiet()
    login: Login | None = None
    if "username" in wanted and "api_key" not in wanted:
        # Most tasks have no password, and Ansible compiles again whatever a task loads.
        from ansible_collections.accelerators.openshift.plugins.module_utils._kube.credentials_login import (
            Login,
        )

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

    return Connection(
        str(configuration.host).rstrip("/"),
        pool,
        bool(configuration.verify_ssl),
        headers,
        renew,
        lambda: login.tokens if login else [],
        ends,
    )


def preload() -> str:
    """Load, in a process that will fork, what every worker would load again. Return what is missing, or ""."""
    # The first context of a process takes OpenSSL some milliseconds.
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials_package

    return credentials_package.MISSING


def _package() -> t.Any:
    """Return the file that imports the package kubernetes, which takes a quarter of a second."""
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials_package

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
