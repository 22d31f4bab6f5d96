# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Credentials: the only file that knows the kubernetes and openshift packages."""

from __future__ import annotations

import os
import sys
import traceback
import typing as t

from ansible.module_utils.parsing.convert_bool import boolean
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC

from ansible_collections.accelerators.openshift.plugins.module_utils import _secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._connection import Connection, fast_pool, tls_context
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import CredentialsError

try:
    import kubernetes.client
    import kubernetes.client.rest
    import kubernetes.config
    from kubernetes.config import kube_config

    MISSING = ""
except ImportError:
    MISSING = traceback.format_exc().strip().splitlines()[-1]

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
    if MISSING:
        raise CredentialsError(
            "CRED-PACKAGE",
            f"The Python package kubernetes cannot be imported by {sys.executable}: {MISSING}.",
            f"{sys.executable} -m pip install kubernetes openshift",
        )
    wanted = settings(params, os.environ if environ is None else environ)
    configuration = _configuration(wanted)
    try:
        pool = kubernetes.client.rest.RESTClientObject(configuration).pool_manager
        fast_pool(pool, tls_context(configuration))
    except (OSError, ValueError, TypeError) as exc:
        raise _unusable(exc) from exc
    finally:
        # The package writes keys and certificates of a kubeconfig to files; they are in memory by now.
        kube_config._cleanup_temp_files()

    def renew() -> None:
        nonlocal configuration
        try:
            configuration = _configuration(wanted)
        finally:
            kube_config._cleanup_temp_files()

    return Connection(str(configuration.host).rstrip("/"), pool, bool(configuration.verify_ssl), lambda: _headers(configuration, wanted), renew)


def _configuration(wanted: Params) -> t.Any:
    """As files, plugins and servers give it at this moment."""
    configuration = kubernetes.client.Configuration()
    configuration.retries = False
    try:
        _load(configuration, wanted)
        _override(configuration, wanted)
    except (OSError, ValueError, TypeError, kubernetes.config.ConfigException) as exc:
        raise _unusable(exc) from exc
    return configuration


def _unusable(exc: Exception) -> CredentialsError:
    return CredentialsError("CRED-INVALID", f"The credentials cannot be used: {exc}", "Check kubeconfig, context, client_cert, client_key and ca_cert.")


def _load(configuration: t.Any, wanted: Params) -> None:
    kubeconfig = wanted.get("kubeconfig")
    into = {"context": wanted.get("context"), "client_configuration": configuration, "persist_config": False}
    if isinstance(kubeconfig, dict):
        kubernetes.config.load_kube_config_from_dict(kubeconfig, **into)
    elif kubeconfig:
        path = os.path.expanduser(str(kubeconfig))
        if not any(os.path.exists(part) for part in path.split(os.pathsep)):
            raise CredentialsError("CRED-KUBECONFIG", f"The kubeconfig {path} does not exist.", "Set kubeconfig, or K8S_AUTH_KUBECONFIG, to an existing file.")
        kubernetes.config.load_kube_config(config_file=path, **into)
    elif not wanted.get("host"):
        _load_default(configuration, into)


def _load_default(configuration: t.Any, into: dict[str, t.Any]) -> None:
    try:
        kubernetes.config.load_kube_config(**into)
    except kubernetes.config.ConfigException as exc:
        try:
            kubernetes.config.load_incluster_config(client_configuration=configuration)
        except kubernetes.config.ConfigException:
            raise CredentialsError(
                "CRED-NONE",
                f"No credentials: no option, no K8S_AUTH_ variable, no usable kubeconfig ({exc}), no service account of a pod.",
                "Set kubeconfig, or host and api_key; or export KUBECONFIG.",
            ) from exc


def _override(configuration: t.Any, wanted: Params) -> None:
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
        wanted = {**wanted, "api_key": _login(configuration, wanted)}
    if "api_key" in wanted:
        configuration.api_key = {"authorization": f"Bearer {wanted['api_key']}"}


def _login(configuration: t.Any, wanted: Params) -> str:
    """A token of OpenShift's OAuth server for a user name and a password."""
    from openshift.helper.userpassauth import OCPLoginConfiguration, OCPLoginException

    # Its own constructor passes an argument that newer releases of the client do not know.
    login = OCPLoginConfiguration.__new__(OCPLoginConfiguration)
    kubernetes.client.Configuration.__init__(login, host=configuration.host)
    login.ocp_username, login.ocp_password = wanted["username"], wanted["password"]
    login.verify_ssl, login.ssl_ca_cert = configuration.verify_ssl, configuration.ssl_ca_cert
    try:
        login.get_token()
    except (OCPLoginException, OSError) as exc:
        raise CredentialsError(
            "CRED-LOGIN", f"OpenShift's OAuth server did not accept the user {wanted['username']}: {exc}", "Check username and password."
        ) from exc
    token = str(login.token["access_token"])
    _secrets.register(token)
    return token


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
