# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Credentials: which they are, who reads them, and the connection that they give."""

from __future__ import annotations

import importlib.util
import os
import ssl
import sys
import typing as t

from ansible.module_utils.parsing.convert_bool import boolean
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC

from ansible_collections.accelerators.openshift.plugins.module_utils import _credentials_plain, _secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._connection import Connection, fast_pool, tls_context
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import CredentialsError

MISSING = "" if importlib.util.find_spec("kubernetes") else "No module named 'kubernetes'"

Params = t.Mapping[str, t.Any]

# The environment variable of kubernetes.core's option is its upper-case name behind K8S_AUTH_, but for these.
_ENVIRONMENT = {
    "validate_certs": "K8S_AUTH_VERIFY_SSL",
    "ca_cert": "K8S_AUTH_SSL_CA_CERT",
    "client_cert": "K8S_AUTH_CERT_FILE",
    "client_key": "K8S_AUTH_KEY_FILE",
}
# Options that say which cluster, or who: they must come from one source.
_IDENTITY = ("kubeconfig", "host", "api_key", "username", "password", "client_cert", "client_key")
# What the client's configuration calls them.
_ATTRIBUTES = {"host": "host", "ca_cert": "ssl_ca_cert", "client_cert": "cert_file", "client_key": "key_file", "proxy": "proxy", "no_proxy": "no_proxy"}
_PATHS = ("ca_cert", "client_cert", "client_key")


def variable(option: str) -> str:
    return _ENVIRONMENT.get(option, f"K8S_AUTH_{option.upper()}")


def settings(params: Params, environ: t.Mapping[str, str]) -> dict[str, t.Any]:
    """The effective options: the task's, else the environment's; never an identity from both."""
    given = {name: params[name] for name in AUTH_ARG_SPEC if params.get(name) not in (None, "")}
    found = {name: environ[variable(name)] for name in AUTH_ARG_SPEC if environ.get(variable(name))}
    _secrets.register(*(source.get(name) for source in (given, found) for name in ("api_key", "password")))
    _secrets.register(*_secrets.in_kubeconfig(given.get("kubeconfig")), *_secrets.strings(given.get("proxy_headers")))
    ours, theirs = ([name for name in _IDENTITY if name in source] for source in (given, found))
    if ours and theirs:
        raise _mixed(f"the task's option {ours[0]}", f"the environment variable {variable(theirs[0])}")
    merged = {**found, **given}
    if "kubeconfig" in merged and (other := [name for name in _IDENTITY[1:] if name in merged]):
        raise _mixed("kubeconfig", other[0])
    if isinstance(merged.get("validate_certs"), str):
        merged["validate_certs"] = boolean(merged["validate_certs"])
    if isinstance(merged.get("impersonate_groups"), str):
        merged["impersonate_groups"] = [group.strip() for group in merged["impersonate_groups"].split(",") if group.strip()]
    return merged


def _mixed(one: str, other: str) -> CredentialsError:
    return CredentialsError(
        "CRED-MIXED",
        f"Credentials were found in two places, {one} and {other}; they are never combined, so that one cluster's token cannot reach another.",
        "Give the task one of them, and unset the other.",
    )


def connect(params: Params, environ: t.Mapping[str, str] | None = None) -> Connection:
    """Opens nothing yet: a pool of connections, the address, and the headers of every request."""
    wanted = settings(params, os.environ if environ is None else environ)
    source, configuration = _read(wanted)
    try:
        pool = source.pool(configuration)
        fast_pool(pool, tls_context(configuration))
    except (OSError, ValueError, TypeError) as exc:
        raise _unusable(exc) from exc
    finally:
        source.forget(configuration)

    def renew() -> None:
        nonlocal configuration
        again, configuration = _read(wanted)
        again.forget(configuration)

    return Connection(str(configuration.host).rstrip("/"), pool, bool(configuration.verify_ssl), lambda: _headers(configuration, wanted), renew)


def preload() -> str:
    """In a process that will fork: what every worker would otherwise pay for. The package only if the environment does not show that it can be spared.

    What is missing, or nothing.
    """
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        plain = _credentials_plain.configuration(settings({}, os.environ))
    except CredentialsError:
        plain = None
    if plain is None:
        from ansible_collections.accelerators.openshift.plugins.module_utils import _credentials_package

        return _credentials_package.MISSING
    _credentials_plain.forget(plain)
    return MISSING


def _package() -> t.Any:
    from ansible_collections.accelerators.openshift.plugins.module_utils import _credentials_package

    problem = MISSING or _credentials_package.MISSING
    if problem:
        raise CredentialsError(
            "CRED-PACKAGE",
            f"The Python package kubernetes cannot be imported by {sys.executable}: {problem}.",
            f"{sys.executable} -m pip install kubernetes openshift",
        )
    return _credentials_package


def _read(wanted: Params) -> tuple[t.Any, t.Any]:
    """Who reads the credentials, and what they are at this moment."""
    configuration: t.Any = _credentials_plain.configuration(wanted)
    source: t.Any = _credentials_plain if configuration else _package()
    try:
        configuration = configuration or source.configuration(wanted)
        _override(source, configuration, wanted)
    except Exception as exc:
        source.forget(configuration)
        if isinstance(exc, (OSError, ValueError, TypeError)):
            raise _unusable(exc) from exc
        raise
    return source, configuration


def _unusable(exc: Exception) -> CredentialsError:
    return CredentialsError("CRED-INVALID", f"The credentials cannot be used: {exc}", "Check kubeconfig, context, client_cert, client_key and ca_cert.")


def _override(source: t.Any, configuration: t.Any, wanted: Params) -> None:
    for option, attribute in _ATTRIBUTES.items():
        if option in wanted:
            value = os.path.expanduser(wanted[option]) if attribute.endswith(("cert", "file")) else wanted[option]
            setattr(configuration, attribute, value)
    if "validate_certs" in wanted:
        configuration.verify_ssl = bool(wanted["validate_certs"])
    if "proxy_headers" in wanted:
        import urllib3.util

        configuration.proxy_headers = urllib3.util.make_headers(**{name: value for name, value in wanted["proxy_headers"].items() if value})
    if "username" in wanted and "password" in wanted and "api_key" not in wanted:
        wanted = {**wanted, "api_key": source.login(configuration, wanted)}
    if "api_key" in wanted:
        configuration.api_key = {"authorization": f"Bearer {wanted['api_key']}"}


def _headers(configuration: t.Any, wanted: Params) -> list[tuple[str, str]]:
    headers: list[tuple[str, str]] = []
    for setting in configuration.auth_settings().values():
        if setting.get("in") == "header" and setting.get("value"):
            headers.append((setting["key"], setting["value"]))
            _secrets.register(str(setting["value"]).removeprefix("Bearer ").removeprefix("Basic "))
    if "impersonate_user" in wanted:
        headers.append(("Impersonate-User", wanted["impersonate_user"]))
    headers.extend(("Impersonate-Group", group) for group in wanted.get("impersonate_groups", ()))
    return headers
