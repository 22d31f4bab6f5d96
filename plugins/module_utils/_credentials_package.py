# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The kubernetes and openshift packages: the only file that knows them. Imported for credentials that need it, since that takes a quarter of a second."""

from __future__ import annotations

import os
import traceback
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _secrets
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


def configuration(wanted: Params) -> t.Any:
    """As files, plugins and servers give it at this moment."""
    made = kubernetes.client.Configuration()
    made.retries = False
    try:
        _load(made, wanted)
    except kubernetes.config.ConfigException as exc:
        raise ValueError(str(exc)) from exc
    return made


def pool(configuration: t.Any) -> t.Any:
    return kubernetes.client.rest.RESTClientObject(configuration).pool_manager


def forget(_configuration: t.Any) -> None:
    """The package writes keys and certificates of a kubeconfig to files; they are in the TLS context by now."""
    if not MISSING:
        kube_config._cleanup_temp_files()


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


def login(configuration: t.Any, wanted: Params) -> str:
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
