# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read credentials with the packages kubernetes and openshift. No other file imports them."""

from __future__ import annotations

import copy
import math
import os
import sys
import traceback
import typing as t

from .._core.errors import CredentialsError
from . import credentials_kubeconfig, credentials_login
from .deadline import within

try:
    import kubernetes.client
    import kubernetes.client.rest
    import kubernetes.config
    from kubernetes.config import kube_config

    class _Loader(credentials_kubeconfig.Reader, kube_config.KubeConfigLoader):  # type: ignore[misc]
        """The package's loader, with what kubectl does besides."""

    MISSING = ""
except ImportError:
    MISSING = traceback.format_exc().strip().splitlines()[-1]

Params = t.Mapping[str, t.Any]
_LOGIN_SECONDS = 30.0


def configuration(wanted: Params, seconds: float = math.inf) -> t.Any:
    """Return the credentials of this moment. seconds: how long files, plugins and servers may take."""
    made = kubernetes.client.Configuration()
    made.retries, made.seconds = False, seconds
    _load(made, wanted)
    return made


def pool(configuration: t.Any) -> t.Any:
    """Return a urllib3 PoolManager, or a ProxyManager."""
    return kubernetes.client.rest.RESTClientObject(configuration).pool_manager


def forget() -> None:
    """Delete the package's files of keys and certificates; the TLS context has them by now."""
    if not MISSING:
        kube_config._cleanup_temp_files()


def _load(configuration: t.Any, wanted: Params) -> None:
    kubeconfig = wanted.get("kubeconfig")
    if isinstance(kubeconfig, dict):
        where = "The kubeconfig given as a dictionary"
        _use(configuration, wanted, copy.deepcopy(kubeconfig), [kubeconfig], where)
    elif kubeconfig:
        path = os.path.expanduser(str(kubeconfig))
        if not _there(path):
            raise CredentialsError("CRED-KUBECONFIG", path=path)
        _use_files(configuration, wanted, path)
    elif not wanted.get("host"):
        path = os.path.expanduser(os.environ.get("KUBECONFIG") or "~/.kube/config")
        # A pod's own account serves where no kubeconfig exists, never in place of a broken one.
        _use_files(configuration, wanted, path) if _there(path) else _use_pod(configuration, path)


def _there(path: str) -> bool:
    return any(os.path.exists(os.path.expanduser(part)) for part in path.split(os.pathsep) if part)


def _use_files(configuration: t.Any, wanted: Params, path: str) -> None:
    files = kube_config.KubeConfigMerger(path)
    read = list(files.config_files.values())
    files.config.value["current-context"] = credentials_kubeconfig.current(read)
    persister = files.save_changes if wanted.get("persist_config") else None
    _use(configuration, wanted, files.config, read, f"The kubeconfig {path}", persister)


def _use(
    configuration: t.Any,
    wanted: Params,
    kubeconfig: t.Any,
    read: list[t.Any],
    where: str,
    persister: t.Callable[[], None] | None = None,
) -> None:
    credentials_kubeconfig.register(read)
    fields = kubeconfig if isinstance(kubeconfig, dict) else kubeconfig.value
    context = str(wanted.get("context") or fields.get("current-context") or "")
    context = credentials_kubeconfig.chosen(fields.get("contexts") or (), context, where)
    loader = _Loader(
        config_dict=kubeconfig, active_context=context, config_base_path=None, config_persister=persister
    )
    loader.seconds = configuration.seconds
    loader.load_and_set(configuration)
    configuration.impersonation, configuration.renewed = loader.impersonation(), loader.is_renewed
    configuration.nobody = loader.nobody(context, where)


def _use_pod(configuration: t.Any, path: str) -> None:
    try:
        kubernetes.config.load_incluster_config(client_configuration=configuration)
        configuration.renewed = True
    except kubernetes.config.ConfigException as exc:
        raise CredentialsError("CRED-NONE", path=path, problem=exc) from exc


def login(configuration: t.Any, wanted: Params, seconds: float) -> str:
    """Return a token of OpenShift's OAuth server for a user name and a password.

    Raises CredentialsError; for an outage OSError, which is worth another try.
    """
    try:
        import requests
        from openshift.helper.userpassauth import OCPLoginConfiguration, OCPLoginException
    except ImportError as exc:
        raise absent("openshift", str(exc)) from exc
    # Its own constructor passes an argument that newer releases of the client do not know.
    login = OCPLoginConfiguration.__new__(OCPLoginConfiguration)
    kubernetes.client.Configuration.__init__(login, host=configuration.host)
    # The package encodes them as Latin-1, and the server reads UTF-8.
    login.ocp_username, login.ocp_password = (
        str(wanted[name]).encode().decode("latin-1") for name in ("username", "password")
    )
    login.verify_ssl, login.ssl_ca_cert = configuration.verify_ssl, configuration.ssl_ca_cert
    try:
        within(min(_LOGIN_SECONDS, seconds), "the login at OpenShift's OAuth server", login.get_token)
    except OCPLoginException as exc:
        facts = {"req_url": "", "req_reason": "", "req_status_code": 0, **getattr(exc, "req_info", {})}
        url, status = facts["req_url"].partition("?")[0], facts["req_status_code"]
        text = f"{getattr(exc, 'msg', exc)} {url}: HTTP {status} ({facts['req_reason']})."
        raise credentials_login.refused(wanted["username"], text, int(status)) from exc
    except requests.exceptions.SSLError as exc:
        server = "OpenShift's OAuth server"
        raise CredentialsError("API-TLS-INGRESS", server=server, answer=exc) from exc
    except (ValueError, KeyError) as exc:
        raise credentials_login.refused(wanted["username"], f"{type(exc).__name__}: {exc}") from exc
    return str(login.token["access_token"])


def absent(package: str, problem: str) -> CredentialsError:
    return CredentialsError("CRED-PACKAGE", package=package, python=sys.executable, problem=problem)
