# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options and environment variables of kubernetes.core: which cluster, and who. They never mix identities."""

from __future__ import annotations

import typing as t

from ansible.module_utils.parsing.convert_bool import boolean
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import (
    AUTH_ARG_MAP,
    AUTH_ARG_SPEC,
    AUTH_PROXY_HEADERS_SPEC,
)

from .._core import secrets
from .._core.errors import CredentialsError

Params = t.Mapping[str, t.Any]
Environment = t.Mapping[str, str]

# Options that say which cluster, or who: all must come from one source.
_IDENTITY = ("kubeconfig", "host", "api_key", "username", "password", "client_cert", "client_key")
_TRUTHS = tuple(name for name, option in AUTH_ARG_SPEC.items() if option.get("type") == "bool")
# The client's own names, which are those of the documented environment variables.
_CLIENT_NAMES = {option: name for name, option in AUTH_ARG_MAP.items()}
_PROXY_HEADERS = "proxy_headers"


def variables(option: str) -> list[str]:
    """Return the environment variables of an option that kubernetes.core reads, the documented one first."""
    return list(
        dict.fromkeys(f"K8S_AUTH_{name.upper()}" for name in (_CLIENT_NAMES.get(option, option), option))
    )


class _Sources(t.NamedTuple):
    """Where each option comes from. given: options of the task. found: of the environment."""

    given: dict[str, t.Any]
    found: dict[str, t.Any]
    environ: Environment

    def place(self, name: str) -> str:
        """Return in words where an option is from."""
        if name in self.given:
            return f"the task's option {name}"
        return f"the environment variable {_variable(name, self.environ)}"


def settings(params: Params, environ: Environment) -> dict[str, t.Any]:
    """Return the effective options: the task's, else the environment's.

    Raises CredentialsError if both name an identity, and for values that cannot be used.
    """
    given = {name: params[name] for name in AUTH_ARG_SPEC if params.get(name) not in (None, "")}
    found = {
        name: value for name in AUTH_ARG_SPEC if (value := _from_environment(name, environ)) not in (None, {})
    }
    secrets.register(*(source.get(name) for source in (given, found) for name in ("api_key", "password")))
    secrets.register(
        *secrets.in_kubeconfig(given.get("kubeconfig")),
        *secrets.strings([given.get(_PROXY_HEADERS), found.get(_PROXY_HEADERS)]),
    )
    merged = {**found, **given}
    sources = _Sources(given, found, environ)
    _refuse_mixed(merged, sources)
    _refuse_halves(merged, sources)
    return merged


def _refuse_mixed(merged: Params, sources: _Sources) -> None:
    """Raise CredentialsError if the options name two clusters, or a cluster and an identity of another."""
    ours, theirs = (
        [name for name in _IDENTITY if name in source] for source in (sources.given, sources.found)
    )
    if ours and theirs:
        variable = _variable(theirs[0], sources.environ)
        raise _mixed(f"the task's option {ours[0]}", f"the environment variable {variable}")
    others = [name for name in _IDENTITY[2:] if name in merged]
    for first in ("kubeconfig", "context"):
        second = "host" if "host" in merged else others[0] if others and first == "kubeconfig" else ""
        if first in merged and second:
            raise _mixed(sources.place(first), sources.place(second))
    if others and "host" not in merged:
        raise _mixed(
            sources.place(others[0]),
            "the kubeconfig or service account that says which cluster, as there is no host",
        )


def _refuse_halves(merged: Params, sources: _Sources) -> None:
    """Raise CredentialsError for an option without the one that it needs, and for a host that is no URL."""
    for option, other in (("username", "password"), ("password", "username"), ("client_key", "client_cert")):
        if option in merged and other not in merged:
            raise CredentialsError("CRED-HALF", place=sources.place(option), other=other)
    if "host" in merged and not str(merged["host"]).lower().startswith(("https://", "http://")):
        raise CredentialsError(
            "CRED-VALUE",
            place=sources.place("host"),
            value=repr(merged["host"]),
            fault="which is no URL",
            wanted="a URL such as https://NAME:6443 (`oc whoami --show-server`)",
        )


def _from_environment(option: str, environ: Environment) -> t.Any:
    if option == _PROXY_HEADERS:
        names = {name: f"K8S_AUTH_PROXY_HEADERS_{name.upper()}" for name in AUTH_PROXY_HEADERS_SPEC}
        return {name: environ[variable] for name, variable in names.items() if environ.get(variable)}
    variable = _variable(option, environ)
    if variable is None:
        return None
    value = environ[variable]
    if option in _TRUTHS:
        try:
            return boolean(value)
        except TypeError as exc:
            raise CredentialsError(
                "CRED-VALUE",
                place=f"the environment variable {variable}",
                value=repr(value),
                fault="neither true nor false",
                wanted="true or false",
            ) from exc
    if AUTH_ARG_SPEC[option].get("type") == "list":
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _variable(option: str, environ: Environment) -> str | None:
    return next((name for name in variables(option) if environ.get(name)), None)


def _mixed(one: str, other: str) -> CredentialsError:
    return CredentialsError("CRED-MIXED", one=one, other=other)
