"""The variables of operators end the failures of catalogues, channels, namespaces and Subscriptions."""

from __future__ import annotations

import functools
import typing as t

from unit.operators.builders import csv_name
from unit.remedies.case import Case, Cases, Options
from unit.remedies.clusters.olm_world import (
    GPU,
    NFD,
    Object,
    catalog,
    group,
    installed_csv,
    manifest,
    operator,
    subscription,
    upgrade,
    version,
)

OPERATOR: t.Final = "olm_operator"
PREFIXES: t.Final = {GPU: "gpu_operator", NFD: "node_feature_discovery"}
OLDER, NEWER = f"{GPU}.v26.3.3", f"{GPU}.v26.7.0"


def without_catalogue(package: str, options: Options) -> str | None:
    """Look for the operator where only a mirror has it."""
    return operator(package, [catalog("mirror"), manifest(package, "mirror")], options)


def two_catalogues(package: str, options: Options) -> str | None:
    """Look for the operator, which a mirror has too, without the catalogue that the role names."""
    mirrored = manifest(package, "mirror")
    mirrored["metadata"]["name"] = f"{package}-mirrored"
    objects = [catalog("one"), catalog("mirror"), manifest(package, "one"), mirrored]
    return operator(package, objects, {"source": None, **options})


def two_groups(package: str, options: Options) -> str | None:
    return operator(package, [*offered(package), group(package), group(package, "two")], options)


def offered(package: str, **channels: str) -> list[Object]:
    """Return the catalogue of the role with the package."""
    found = manifest(package, **channels)
    return [catalog(found["status"]["catalogSource"]), found]


def install(package: str, options: Options) -> str | None:
    return operator(package, offered(package), options)


def elsewhere(package: str, options: Options) -> str | None:
    """Install an operator that another team has subscribed to."""
    theirs = subscription(package, namespace="theirs", labels={})
    return operator(package, [*offered(package), theirs, group(package, namespace="theirs")], options)


def not_ours(package: str, options: Options) -> str | None:
    """Ask for channel b where another client subscribed to a."""
    theirs = [subscription(package, labels={}), installed_csv(package), group(package)]
    return operator(package, [*offered(package), *theirs], options, channel="b")


def unsupported(options: Options) -> str | None:
    """Install the GPU operator on a release of OpenShift that its newest release does not support."""
    objects = [*offered(GPU, v26__7="26.3.3 26.7.0", v26__3="26.3.3"), version("4.16.30")]
    return operator(GPU, objects, options)


def not_installed(options: Options) -> str | None:
    """Upgrade operators where only NFD is installed."""
    return upgrade([*offered(NFD), subscription(NFD), installed_csv(NFD)], options)


def of_both(
    code: str, option: str, run: t.Callable[[str, Options], str | None], value: str = "", before: str = ""
) -> Cases:
    """Return the cases of both roles. value, before: with PACKAGE for the package."""
    return {
        (code, f"{prefix}_{option}"): Case(
            OPERATOR,
            functools.partial(run, package),
            value.replace("PACKAGE", package),
            before.replace("PACKAGE", package),
        )
        for package, prefix in PREFIXES.items()
    }


CASES: t.Final[Cases] = {
    **of_both("OLM-CATALOG", "source", without_catalogue, "mirror"),
    **of_both("OLM-SOURCES", "source", two_catalogues, "one", "null"),
    **of_both("OLM-GROUP", "namespace", two_groups, "alone"),
    **of_both("OLM-NO-CHANNEL", "channel", install, "b", "c"),
    **of_both("OLM-NO-CSV", "csv", install, csv_name("1.1.0", "PACKAGE"), csv_name("3.0.0", "PACKAGE")),
    **of_both("OLM-TWICE", "namespace", elsewhere, "theirs"),
    **of_both("OLM-FOREIGN", "adopt", not_ours),
    ("OLM-NOT-INSTALLED", "gpu_upgrade_operators"): Case(
        "operator_upgrade", not_installed, "[{name: nfd}]", "[{name: nfd}, {name: gpu}]"
    ),
    ("OLM-SUPPORT", "gpu_operator_channel"): Case(OPERATOR, unsupported, "v26.3"),
    ("OLM-SUPPORT", "gpu_operator_csv"): Case(OPERATOR, unsupported, OLDER, NEWER),
}
