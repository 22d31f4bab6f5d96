# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options and variables of kubernetes.core: names, types, one source at a time, errors before any read."""

from __future__ import annotations

import itertools
import re
import typing as t
from pathlib import Path

import pytest
from ansible_collections.kubernetes.core.plugins.module_utils.args_common import (
    AUTH_ARG_MAP,
    AUTH_ARG_SPEC,
    AUTH_PROXY_HEADERS_SPEC,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import CredentialsError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import argspec
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials_settings

# A value of each option, in the type that a task gives it, and as text in the environment.
VALUES: t.Final[dict[str, t.Any]] = {
    "kubeconfig": "/k",
    "context": "c",
    "host": "https://a",
    "api_key": "token-of-a",
    "username": "joe",
    "password": "pass-of-joe",
    "validate_certs": False,
    "ca_cert": "/ca",
    "client_cert": "/cert",
    "client_key": "/key",
    "proxy": "http://proxy",
    "no_proxy": "a,b",
    "proxy_headers": {"proxy_basic_auth": "user-of-proxy:pass", "basic_auth": "joe:pass", "user_agent": "me"},
    "persist_config": True,
    "impersonate_user": "jim",
    "impersonate_groups": ["a", "b"],
}
WHO: t.Final = ("api_key", "username", "password", "client_cert", "client_key")
# What has to be there for an option to make sense, other than what the pair under test is about.
WITH: t.Final = {"username": ["password"], "password": ["username"], "client_key": ["client_cert"]}


@pytest.fixture(autouse=True)
def _forget_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_seen", set())


def environment(*options: str) -> dict[str, str]:
    texts = {True: "yes", False: "no"}
    return {
        variable(one): texts[VALUES[one]] if isinstance(VALUES[one], bool) else str(VALUES[one])
        for one in options
    }


def variable(option: str) -> str:
    return credentials_settings.variables(option)[0]


def refused(params: dict[str, t.Any], environ: dict[str, str]) -> CredentialsError:
    with pytest.raises(CredentialsError) as caught:
        credentials_settings.settings(params, environ)
    assert "token-of" not in caught.value.message
    assert "pass-of" not in caught.value.message
    return caught.value


def test_every_option_has_a_value_here() -> None:
    assert VALUES.keys() == AUTH_ARG_SPEC.keys()


def test_options_are_kubernetes_cores_own() -> None:
    assert argspec.AUTH.options == AUTH_ARG_SPEC
    assert not any(option.get("default") for option in AUTH_ARG_SPEC.values()), (
        "a default would hide the environment"
    )


def test_the_documented_variables_come_first() -> None:
    documented = {ours: f"K8S_AUTH_{name.upper()}" for name, ours in AUTH_ARG_MAP.items()}
    assert {option: variable(option) for option in documented} == documented
    assert credentials_settings.variables("ca_cert") == ["K8S_AUTH_SSL_CA_CERT", "K8S_AUTH_CA_CERT"]
    assert credentials_settings.variables("impersonate_user") == ["K8S_AUTH_IMPERSONATE_USER"]


def test_the_guide_names_every_option_and_only_variables_that_are_read() -> None:
    text = (
        (Path(__file__).resolve().parents[3] / "docs" / "guide.md")
        .read_text()
        .partition("## Connection\n")[2]
        .partition("\n## ")[0]
    )
    assert [option for option in AUTH_ARG_SPEC if f"`{option}`" not in text] == []
    read = {name for option in AUTH_ARG_SPEC for name in credentials_settings.variables(option)}
    headers = {f"K8S_AUTH_PROXY_HEADERS_{name.upper()}" for name in AUTH_PROXY_HEADERS_SPEC}
    assert set(re.findall(r"K8S_AUTH_\w+[A-Z]", text)) - read - headers == set()


@pytest.mark.parametrize("option", [name for name in VALUES if name not in WHO and name != "proxy_headers"])
def test_an_option_and_its_variables_mean_the_same(option: str) -> None:
    wanted = {option: VALUES[option]}
    assert credentials_settings.settings(wanted, {}) == wanted
    for name in credentials_settings.variables(option):
        text = ",".join(VALUES[option]) if isinstance(VALUES[option], list) else str(VALUES[option])
        assert credentials_settings.settings({}, {name: text}) == wanted
        assert credentials_settings.settings({}, {name: ""}) == {}


@pytest.mark.parametrize("option", WHO)
def test_who_and_its_variables_mean_the_same(option: str) -> None:
    options = ["host", option, *WITH.get(option, ())]
    wanted = {name: VALUES[name] for name in options}
    assert (
        credentials_settings.settings(wanted, {})
        == wanted
        == credentials_settings.settings({}, environment(*options))
    )


def test_proxy_headers_have_a_variable_each_and_are_secret() -> None:
    environ = {
        f"K8S_AUTH_PROXY_HEADERS_{name.upper()}": VALUES["proxy_headers"][name]
        for name in AUTH_PROXY_HEADERS_SPEC
    }
    assert credentials_settings.settings({}, environ) == {"proxy_headers": VALUES["proxy_headers"]}
    assert "user-of-proxy" not in secrets.censor_text("x user-of-proxy:pass")


@pytest.mark.parametrize(
    ("text", "meant"),
    [("false", False), ("0", False), ("no", False), ("true", True), ("1", True), ("False", False)],
)
def test_truths_from_the_environment(text: str, meant: bool) -> None:
    assert credentials_settings.settings({}, {"K8S_AUTH_VERIFY_SSL": text})["validate_certs"] is meant
    assert credentials_settings.settings({}, {"K8S_AUTH_PERSIST_CONFIG": text})["persist_config"] is meant


def test_a_truth_that_is_none_is_named() -> None:
    error = refused({}, {"K8S_AUTH_VERIFY_SSL": "maybe"})
    assert (error.code, "K8S_AUTH_VERIFY_SSL is 'maybe'" in error.message) == ("CRED-VALUE", True)


def test_what_is_no_identity_may_come_from_both() -> None:
    both = credentials_settings.settings(
        {"kubeconfig": "/k"}, environment("validate_certs", "ca_cert", "proxy", "context")
    )
    assert both == {
        name: VALUES[name] for name in ("kubeconfig", "validate_certs", "ca_cert", "proxy", "context")
    }


@pytest.mark.parametrize(("ours", "theirs"), list(itertools.product(("kubeconfig", "host", *WHO), repeat=2)))
def test_an_identity_is_never_from_task_and_environment(ours: str, theirs: str) -> None:
    error = refused({ours: VALUES[ours]}, environment(theirs))
    assert error.code == "CRED-MIXED"
    assert f"the task's option {ours} and the environment variable {variable(theirs)};" in error.message


@pytest.mark.parametrize("where", ["task", "environment"])
@pytest.mark.parametrize(
    ("one", "other"), [*(("kubeconfig", other) for other in ("host", *WHO)), ("context", "host")]
)
def test_a_kubeconfig_is_never_mixed_with_anything(one: str, other: str, where: str) -> None:
    options = (one, other)
    error = (
        refused({name: VALUES[name] for name in options}, {})
        if where == "task"
        else refused({}, environment(*options))
    )

    def named(name: str) -> str:
        return (
            f"the task's option {name}" if where == "task" else f"the environment variable {variable(name)}"
        )

    assert error.code == "CRED-MIXED"
    assert f"{named(one)} and {named(other)};" in error.message


def test_a_context_of_the_task_is_not_overruled_by_the_host_of_the_environment() -> None:
    assert (
        "option context and the environment variable K8S_AUTH_HOST;"
        in refused({"context": "c"}, environment("host", "api_key")).message
    )


@pytest.mark.parametrize("option", WHO)
def test_a_token_without_host_does_not_travel_to_the_cluster_of_some_kubeconfig(option: str) -> None:
    error = refused({name: VALUES[name] for name in (option, *WITH.get(option, ()))}, {})
    assert error.code == "CRED-MIXED"
    assert "there is no host" in error.message


@pytest.mark.parametrize(
    ("option", "lacks"), [("username", "password"), ("password", "username"), ("client_key", "client_cert")]
)
def test_half_an_identity(option: str, lacks: str) -> None:
    error = refused({"host": "https://a", option: VALUES[option]}, {})
    assert (error.code, f"no {lacks}" in error.message) == ("CRED-HALF", True)


@pytest.mark.parametrize("host", ["api.example", "api.example:6443", "ftp://a", "//a"])
def test_a_host_is_a_url(host: str) -> None:
    error = refused({"host": host}, {})
    assert (error.code, repr(host) in error.message) == ("CRED-VALUE", True)
