# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What kubectl does with a kubeconfig and the kubernetes package does not, mixed into the package's own loader."""

from __future__ import annotations

import base64
import ssl
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import CredentialsError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials_exec
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.credentials_time import within

_SECRET = frozenset(
    ("token", "password", "client-key-data", "id-token", "refresh-token", "access-token", "client-secret")
)
# These are asked again when the server does not accept what they gave.
_RENEWED = frozenset(("exec", "tokenFile", "auth-provider"))
_ISSUER_SECONDS = 30.0

Fields = dict[str, t.Any]


def register(kubeconfig: object) -> None:
    """Remembers the secrets in a file, so that no message shows them."""
    if isinstance(kubeconfig, dict):
        for name, value in kubeconfig.items():
            secrets.register(*secrets.strings(value)) if name in _SECRET else register(value)
    elif isinstance(kubeconfig, list):
        for value in kubeconfig:
            register(value)


def current(kubeconfigs: t.Iterable[object]) -> str:
    """The first file that says which context is current wins, as everywhere else among several."""
    return next(
        (
            str(one["current-context"])
            for one in kubeconfigs
            if isinstance(one, dict) and one.get("current-context")
        ),
        "",
    )


def chosen(contexts: t.Sequence[t.Any], wanted: str, where: str) -> str:
    """The context to use, if it is there."""
    names = [str(one["name"]) for one in contexts]
    there = f"it has {', '.join(names)}" if names else "it has none"
    if not wanted:
        raise CredentialsError(
            "CRED-CONTEXT",
            f"{where} names no current context, and the task none either; {there}.",
            "Set context.",
        )
    if wanted not in names:
        raise CredentialsError(
            "CRED-CONTEXT",
            f"{where} has no context {wanted}; {there}.",
            "Set context to one that is there (oc config get-contexts).",
        )
    return wanted


class Reader:
    """Before the package's KubeConfigLoader among the bases of a class. seconds: how long a plugin or an issuer may take."""

    seconds: float
    _user: t.Any
    _cluster: t.Any
    _get_base_path: t.Callable[[str | None], str]

    @property
    def user(self) -> Fields:
        return self._user.value if self._user else {}

    @property
    def is_renewed(self) -> bool:
        return bool(_RENEWED & self.user.keys())

    def impersonation(self) -> list[tuple[str, str]]:
        """As `kubectl` sends what the user entry says of whom to act as."""
        user = self.user
        headers = [
            (f"Impersonate-{name}", str(user[key]))
            for name, key in (("User", "as"), ("Uid", "as-uid"))
            if user.get(key)
        ]
        headers += [("Impersonate-Group", str(group)) for group in user.get("as-groups") or ()]
        return headers + [
            (f"Impersonate-Extra-{key}", str(value))
            for key, values in (user.get("as-user-extra") or {}).items()
            for value in values
        ]

    def _load_from_exec_plugin(self) -> bool | None:
        """The package's own way logs what goes wrong and goes on as nobody, and waits for ever."""
        if not self.user.get("exec"):
            return None
        status = credentials_exec.run(
            self.user["exec"], self._get_base_path(self._cluster.path), self._cluster.value, self.seconds
        )
        if status.get("token"):
            self.token = f"Bearer {status['token']}"
        if status.get("clientCertificateData"):
            for name in ("certificate", "key"):
                data = status[f"client{name.title()}Data"].encode()
                self.user[f"client-{name}-data"] = base64.b64encode(data).decode()
        return True

    def _refresh_oidc(self, provider: t.Any) -> None:
        """With the system's authorities where none is named, without a secret where the client has none, in limited time; and a refusal is told."""
        config: Fields = provider.value["config"]
        known = {
            "client-secret": "",
            "idp-certificate-authority": ssl.get_default_verify_paths().cafile or _bundled(),
        }
        copy = {"config": {**known, **config}}
        issuer, trial = (
            str(config.get("idp-issuer-url")),
            type(provider)("auth-provider", copy, provider.path),
        )
        refresh: t.Callable[[t.Any], None] = super()._refresh_oidc  # type: ignore[misc]
        try:
            within(min(_ISSUER_SECONDS, self.seconds), f"the issuer {issuer}", lambda: refresh(trial))
        except Exception as exc:
            raise _refused(issuer, f"{type(exc).__name__}: {exc}") from exc
        if copy["config"].get("id-token") == config.get("id-token"):
            raise _refused(issuer, "it gave no new token")
        config.update({name: copy["config"][name] for name in ("id-token", "refresh-token")})
        register(config)


def _bundled() -> str:
    import requests.utils

    return str(requests.utils.DEFAULT_CA_BUNDLE_PATH)


def _refused(issuer: str, why: str) -> CredentialsError:
    return CredentialsError(
        "CRED-OIDC",
        f"The token of the kubeconfig has expired, and {issuer} did not renew it: {why}.",
        "Log in again at the issuer.",
    )
