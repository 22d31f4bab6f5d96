"""What a catalogue offers, and an OperatorGroup that suits."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import catalogue, group as olm_group

Object = dict[str, t.Any]

STABLE: Object = {
    "name": "stable",
    "currentCSV": "nfd.v4.22.0-20",
    "currentCSVDesc": {
        "installModes": [
            {"type": "OwnNamespace", "supported": True},
            {"type": "AllNamespaces", "supported": False},
        ]
    },
    "entries": [{"name": f"nfd.v4.22.0-{stamp}", "version": f"4.22.0-{stamp}"} for stamp in (20, 10, 9)],
}


def package(name: str = "nfd", catalog: str = "redhat-operators") -> Object:
    status = {
        "catalogSource": catalog,
        "catalogSourceNamespace": "m",
        "packageName": name,
        "defaultChannel": "stable",
        "channels": [STABLE],
    }
    return {"metadata": {"name": name}, "status": status}


def catalog(name: str, state: str) -> Object:
    return {"metadata": {"name": name}, "status": {"connectionState": {"lastObservedState": state}}}


READY = [catalog("redhat-operators", "READY"), catalog("certified-operators", "READY")]


@pytest.mark.parametrize(
    ("name", "source", "catalogs", "code", "words"),
    [
        ("nf", None, READY, "OLM-NO-PACKAGE", "Did you mean nfd?"),
        ("gpu-operator", None, READY, "OLM-NO-PACKAGE", "Did you mean gpu-operator-certified?"),
        ("nf", None, READY, "OLM-NO-PACKAGE", "certified-operators, redhat-operators"),
        ("kueue", "certified-operators", READY, "OLM-NO-PACKAGE", "none with a similar name"),
        ("nfd", "certified-operators", READY, "OLM-NO-PACKAGE", "redhat-operators (module option source)"),
        (
            "nfd",
            "mirror",
            READY,
            "OLM-CATALOG",
            "there is no CatalogSource mirror; there are: certified-operators, redhat-operators",
        ),
        (
            "x",
            None,
            [catalog("redhat-operators", "TRANSIENT_FAILURE")],
            "OLM-CATALOG",
            "redhat-operators (TRANSIENT_FAILURE)",
        ),
        ("x", None, [], "OLM-CATALOG", "no CatalogSource exists"),
    ],
)
def test_why_there_is_no_such_package(
    name: str, source: str | None, catalogs: list[Object], code: str, words: str
) -> None:
    error = catalogue.missing(
        name, source, [package(), package("gpu-operator-certified", "certified-operators")], catalogs
    )
    assert error.code == code
    assert words in error.message + error.remedy


@pytest.mark.parametrize(
    ("source", "offered", "remedy"),
    [
        (
            "redhat-operators",
            [package(catalog="cs-index")],
            "node_feature_discovery_source: cs-index (module option source), which has package nfd",
        ),
        (
            "cs-other",
            [package(catalog="cs-index")],
            "node_feature_discovery_source: cs-index (module option source), which has package nfd",
        ),
        (
            "redhat-operators",
            [package(catalog="cs-index"), package(catalog="cs-old")],
            "node_feature_discovery_source (module option source) to one of cs-index, cs-old, "
            "which have package nfd",
        ),
        (
            "redhat-operators",
            [],
            "node_feature_discovery_source (module option source) to a catalogue into which you mirror "
            "package nfd (cs-index or cs-other)",
        ),
    ],
)
def test_the_variable_and_the_mirror_that_has_the_package_are_named(
    source: str, offered: list[Object], remedy: str
) -> None:
    there = [catalog("cs-index", "READY"), catalog("cs-other", "READY")]
    assert f"et {remedy}." in catalogue.missing("nfd", source, offered, there).remedy


def test_a_package_of_no_role_has_only_the_option() -> None:
    error = catalogue.missing("x", "gone", [package("x", "mirror")], [catalog("mirror", "READY")])
    assert error.remedy.endswith(", or set source: mirror, which has package x.")


def test_the_named_catalogue_decides() -> None:
    found = catalogue.choose([package(), package(catalog="mirror")], "nfd", "mirror")
    assert found
    assert catalogue.catalog(found) == ("mirror", "m")
    assert catalogue.choose([package()], "nfd", "mirror") is None


def test_a_catalogue_that_went_away() -> None:
    catalogue.check_catalog(package(), READY)
    catalogue.check_catalog(package(), [catalog("redhat-operators", "IDLE")])
    with pytest.raises(AcceleratorError, match="redhat-operators is CONNECTING"):
        catalogue.check_catalog(package(), [catalog("redhat-operators", "CONNECTING")])


def test_the_default_channel_and_an_unknown_one() -> None:
    assert catalogue.channel(package(), "")["name"] == "stable"
    with pytest.raises(AcceleratorError, match=r"no channel v9; it has: stable \(nfd\S+-20, the default\)"):
        catalogue.channel(package(), "v9")


def test_the_way_to_a_csv() -> None:
    assert catalogue.path_to(STABLE, "nfd.v4.22.0-10") == {"nfd.v4.22.0-9", "nfd.v4.22.0-10"}
    assert catalogue.path_to(STABLE, None) == {"nfd.v4.22.0-9", "nfd.v4.22.0-10", "nfd.v4.22.0-20"}
    assert catalogue.path_to({**STABLE, "entries": None}, None) == {"nfd.v4.22.0-20"}
    with pytest.raises(
        AcceleratorError,
        match=r"no CSV nfd\.v5; it has: nfd\.v4\.22\.0-9, nfd\.v4\.22\.0-10, nfd\.v4\.22\.0-20",
    ):
        catalogue.path_to(STABLE, "nfd.v5")


@pytest.mark.parametrize(
    ("older", "newer"),
    [("26.3.2", "26.7.0"), ("1.9.0", "1.10.0"), ("4.22.0-202607", "4.22.0-202608"), ("1.0.0", "1.0.0-1")],
)
def test_versions_are_ordered_by_number(older: str, newer: str) -> None:
    assert catalogue.order(older) < catalogue.order(newer)


def group(*targets: str, name: str = "g", **spec: t.Any) -> Object:
    return {
        "metadata": {"name": name},
        "spec": ({"targetNamespaces": list(targets)} if targets else {}) | spec,
    }


@pytest.mark.parametrize(
    ("groups", "mode", "suits"),
    [
        ([], None, False),
        ([group("n")], None, True),
        ([group("n")], "OwnNamespace", True),
        ([group()], "AllNamespaces", True),
        ([group()], None, True),
    ],
)
def test_an_existing_group_is_used(groups: list[Object], mode: str | None, suits: bool) -> None:
    assert (olm_group.suitable(groups, "n", mode, "nfd") is not None) is suits


@pytest.mark.parametrize(
    ("groups", "mode"),
    [
        ([group()], "OwnNamespace"),
        ([group("n")], "AllNamespaces"),
        ([group("other")], None),
        ([group("n", "other")], None),
        ([group("n"), group("n", name="h")], None),
        ([group(selector={"matchLabels": {}})], None),
    ],
)
def test_a_group_that_does_not_suit_is_refused(groups: list[Object], mode: str | None) -> None:
    with pytest.raises(AcceleratorError, match="OperatorGroup") as caught:
        olm_group.suitable(groups, "n", mode, "nfd")
    assert caught.value.code == "OLM-GROUP"
    assert "set node_feature_discovery_namespace (module option namespace)" in caught.value.remedy


@pytest.mark.parametrize(
    ("wanted", "supported", "mode"),
    [
        (None, {"OwnNamespace", "AllNamespaces"}, "OwnNamespace"),
        (None, {"AllNamespaces"}, "AllNamespaces"),
        (None, set(), "OwnNamespace"),
    ],
)
def test_the_install_mode(wanted: str | None, supported: set[str], mode: str) -> None:
    assert olm_group.mode(wanted, supported, "nfd") == mode


@pytest.mark.parametrize(
    ("wanted", "supported"), [("OwnNamespace", {"AllNamespaces"}), (None, {"MultiNamespace"})]
)
def test_an_install_mode_that_the_operator_lacks(wanted: str | None, supported: set[str]) -> None:
    with pytest.raises(AcceleratorError, match="does not support install mode") as caught:
        olm_group.mode(wanted, supported, "nfd")
    assert caught.value.code == "OLM-INSTALL-MODE"


def test_all_namespaces_is_a_group_without_targets() -> None:
    assert olm_group.build("n", "AllNamespaces")["spec"] == {}
    assert olm_group.targets(olm_group.build("n", "OwnNamespace")) == ["n"]


def test_a_package_of_two_catalogues_is_not_guessed() -> None:
    found = catalogue.sources([package(), package(catalog="mirror"), package("other")], "nfd")
    assert found == ["mirror", "redhat-operators"]
    catalogue.check_one_source("nfd", found[:1], READY)
    with pytest.raises(AcceleratorError, match="mirror, redhat-operators") as caught:
        catalogue.check_one_source("nfd", found, [catalog("mirror", "READY") | {"spec": {"priority": 10}}])
    assert caught.value.code == "OLM-SOURCES"
    assert "CatalogSource mirror: priority 10" in caught.value.evidence


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"disableAllDefaultSources": True}, "disableAllDefaultSources is true"),
        (
            {"sources": [{"name": "certified-operators", "disabled": True}]},
            "sources has certified-operators with disabled: true",
        ),
        (
            {
                "disableAllDefaultSources": True,
                "sources": [{"name": "certified-operators", "disabled": False}],
            },
            "",
        ),
        ({"sources": [{"name": "redhat-operators", "disabled": True}]}, ""),
        ({}, ""),
    ],
)
def test_a_default_catalogue_that_is_switched_off(spec: Object, words: str) -> None:
    error = catalogue.missing("gpu-operator-certified", "certified-operators", [], READY[:1], {"spec": spec})
    assert error.code == "OLM-CATALOG"
    assert (words in error.message) if words else ("there is no CatalogSource" in error.message)


def test_what_is_deprecated_is_told_with_the_default_channel() -> None:
    old = {
        **STABLE,
        "name": "old",
        "deprecation": {"message": "use stable"},
        "entries": [{**STABLE["entries"][0], "deprecation": {"message": "take the next"}}],
    }
    found = catalogue.deprecations(package(), old, "nfd.v4.22.0-20")
    assert found == [
        "Channel old is deprecated: use stable",
        "CSV nfd.v4.22.0-20 is deprecated: take the next",
        "The default channel of nfd is stable.",
    ]
    assert catalogue.deprecations(package(), STABLE, "nfd.v4.22.0-20") == []
    assert catalogue.leading_to(package(), "nfd.v4.22.0-9") == ["stable"]


@pytest.mark.parametrize(
    ("spec", "supported", "fits"),
    [
        ({}, {"AllNamespaces"}, True),
        ({}, {"OwnNamespace", "SingleNamespace"}, False),
        ({"targetNamespaces": ["n"]}, {"AllNamespaces"}, False),
        ({"targetNamespaces": ["n"]}, {"OwnNamespace"}, True),
        ({}, set(), True),
    ],
)
def test_a_group_that_the_operator_does_not_support(spec: Object, supported: set[str], fits: bool) -> None:
    group = {"metadata": {"name": "g", "namespace": "n"}, "spec": spec}
    if fits:
        olm_group.check_supported(group, supported, "nfd")
        return
    with pytest.raises(AcceleratorError, match="supports only"):
        olm_group.check_supported(group, supported, "nfd")
