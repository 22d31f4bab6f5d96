# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Credentials that need no package: host and token, or one kubeconfig of certificates, tokens and files.

The kubernetes package reads these and everything else, and its import takes a quarter of a second. Whatever is unusual or wrong is left to it: exec plugins,
auth providers, proxies, several files, accounts of a pod, other systems than Linux. What is read here means the same to both; a test compares them.
"""

from __future__ import annotations

import base64
import binascii
import os
import typing as t
from dataclasses import dataclass, field

try:
    import urllib3
    import yaml

    _LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    _USABLE = hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd")
except ImportError:
    _USABLE = False

Fields = t.Mapping[str, t.Any]
MEMORY = "/proc/self/fd/"
_PROXIES = frozenset(("http_proxy", "https_proxy", "all_proxy"))
_OPTIONS = frozenset(("username", "password", "proxy", "no_proxy", "proxy_headers"))
_CONTEXT = frozenset(("cluster", "user", "namespace", "extensions"))
_CLUSTER = frozenset(
    (
        "server",
        "certificate-authority",
        "certificate-authority-data",
        "insecure-skip-tls-verify",
        "tls-server-name",
        "extensions",
    )
)
_USER = frozenset(
    ("token", "tokenFile", "client-certificate", "client-certificate-data", "client-key", "client-key-data")
)


class _NotPlainError(Exception):
    """The package has to read this, or to say what is wrong with it."""


@dataclass
class Plain:
    """What of the package's Configuration is read here, by the same names. held: open files in memory. files: what was read."""

    host: str = ""
    verify_ssl: bool = True
    ssl_ca_cert: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    tls_server_name: str | None = None
    api_key: dict[str, str] = field(default_factory=dict)
    renewed: bool = False
    held: list[int] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def auth_settings(self) -> dict[str, dict[str, str]]:
        return {
            name: {"in": "header", "key": "authorization", "value": value}
            for name, value in self.api_key.items()
        }


def configuration(wanted: Fields) -> Plain | None:
    """As files give it at this moment; None when it takes the package."""
    if not _USABLE or _OPTIONS & wanted.keys() or any(name.lower() in _PROXIES for name in os.environ):
        return None
    plain = Plain()
    try:
        if not wanted.get("host"):
            _load(plain, wanted)
    except (_NotPlainError, OSError, ValueError, yaml.YAMLError):
        forget(plain)
        return None
    return plain


def pool(plain: Plain) -> t.Any:
    return (
        urllib3.PoolManager(server_hostname=plain.tls_server_name)
        if plain.tls_server_name
        else urllib3.PoolManager()
    )


def forget(plain: Plain) -> None:
    """Closes what holds keys and certificates; they are in the TLS context by now."""
    while plain.held:
        os.close(plain.held.pop())


def _load(plain: Plain, wanted: Fields) -> None:
    kubeconfig, base = wanted.get("kubeconfig") or os.environ.get("KUBECONFIG", "~/.kube/config"), ""
    if not isinstance(kubeconfig, dict):
        path = os.path.expanduser(str(kubeconfig))
        base = os.path.abspath(os.path.dirname(path))
        kubeconfig = yaml.load(_text(plain, path), _LOADER)  # noqa: S506 (a safe loader, the fast one if there is one)
    if not isinstance(kubeconfig, dict):
        raise _NotPlainError
    context = _named(
        kubeconfig, "context", wanted.get("context") or kubeconfig.get("current-context"), _CONTEXT
    )
    cluster = _named(kubeconfig, "cluster", context.get("cluster"), _CLUSTER)
    user = _named(kubeconfig, "user", context.get("user"), _USER)
    _reach(plain, cluster, user, base)
    token = user.get("token", "")
    if "token" not in user and "tokenFile" in user:
        token = _text(plain, os.path.join(base, user["tokenFile"])).strip()
        plain.renewed = True
    if token:
        plain.api_key = {"BearerToken": f"Bearer {token}"}


def _text(plain: Plain, path: str) -> str:
    plain.files.append(path)
    with open(path, encoding="utf-8") as file:
        return file.read()


def _named(kubeconfig: Fields, kind: str, name: object, known: frozenset[str]) -> Fields:
    """The one entry of that name, with nothing in it that is not known here."""
    entries = kubeconfig.get(f"{kind}s")
    found = (
        [one for one in entries if isinstance(one, dict) and one.get("name") == name]
        if isinstance(entries, list)
        else []
    )
    inner = found[0].get(kind) if len(found) == 1 and name else None
    if not isinstance(inner, dict) or inner.keys() - known:
        raise _NotPlainError
    if not all(
        isinstance(value, bool if key == "insecure-skip-tls-verify" else str)
        for key, value in inner.items()
        if key != "extensions"
    ):
        raise _NotPlainError
    return inner


def _reach(plain: Plain, cluster: Fields, user: Fields, base: str) -> None:
    plain.host = cluster.get("server", "").rstrip("/")
    if not plain.host:
        raise _NotPlainError
    plain.verify_ssl = not cluster.get("insecure-skip-tls-verify", False)
    plain.tls_server_name = cluster.get("tls-server-name")
    if plain.host.startswith("https"):
        plain.ssl_ca_cert = _file(plain, cluster, "certificate-authority", base)
        plain.cert_file = _file(plain, user, "client-certificate", base)
        plain.key_file = _file(plain, user, "client-key", base)


def _file(plain: Plain, entry: Fields, name: str, base: str) -> str | None:
    """A path. Data are put into memory that has one, since OpenSSL takes keys from files only and no key belongs on a disk."""
    data = entry.get(f"{name}-data", "")
    if data:
        try:
            content = base64.standard_b64decode(data)
        except binascii.Error as exc:
            raise _NotPlainError from exc
        plain.held.append(os.memfd_create(name))
        os.write(plain.held[-1], content)
        return f"{MEMORY}{plain.held[-1]}"
    if f"{name}-data" in entry or name not in entry:
        return None
    path = os.path.normpath(os.path.join(base, entry[name]))
    if not os.path.isfile(path):
        raise _NotPlainError
    return path
