"""The documented connection options are those of kubernetes.core, whose argument specification is ours."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

import yaml
from ansible_collections.kubernetes.core.plugins.doc_fragments import k8s_auth_options

from ansible_collections.accelerators.openshift.plugins.doc_fragments import _auth
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import AUTH
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.credentials_settings import (
    variables,
)

PLUGINS: t.Final = Path(__file__).resolve().parents[3] / "plugins"
# The texts are our own. kubernetes.core counts its own versions; our first release has every option.
OWN: t.Final = {"description", "version_added"}
# Fragments that every ansible-core has.
OF_ANSIBLE: t.Final = {"  - constructed", "  - inventory_cache"}
Option = dict[str, t.Any]


def documented(fragment: t.Any) -> dict[str, Option]:
    """Return the options of a fragment; a suboption is called OPTION.NAME."""
    options: dict[str, Option] = yaml.safe_load(fragment.ModuleDocFragment.DOCUMENTATION)["options"]
    inner = {
        f"{name}.{sub}": one
        for name, option in options.items()
        for sub, one in option.get("suboptions", {}).items()
    }
    return options | inner


OURS: t.Final = documented(_auth)
THEIRS: t.Final = documented(k8s_auth_options)


def facts(option: Option) -> Option:
    """Return everything but the texts of an option; of suboptions only the names."""
    found = {name: value for name, value in option.items() if name not in OWN}
    return found | ({"suboptions": sorted(found["suboptions"])} if "suboptions" in found else {})


def named(option: Option) -> set[str]:
    """Return the K8S_AUTH_ variables that a description names."""
    return set(re.findall(r"K8S_AUTH_\w+", str(option["description"])))


def test_the_options_are_those_of_kubernetes_core() -> None:
    assert {name: facts(option) for name, option in OURS.items()} == {
        name: facts(option) for name, option in THEIRS.items()
    }


def test_the_environment_variables_are_those_of_kubernetes_core() -> None:
    assert {name: named(OURS[name]) for name in OURS} == {name: named(THEIRS[name]) for name in OURS}


def test_the_environment_variable_is_the_first_that_is_read() -> None:
    names = [name for name in OURS if name in AUTH.options and name != "proxy_headers"]
    assert {name: named(OURS[name]) for name in names} == {name: {variables(name)[0]} for name in names}


def test_the_argument_specification_has_the_same_options() -> None:
    spec = dict(AUTH.options)
    spec |= {f"proxy_headers.{name}": one for name, one in spec["proxy_headers"]["options"].items()}
    assert {
        name: (one.get("type", "str"), one.get("elements"), one.get("aliases", []))
        for name, one in spec.items()
    } == {name: (one["type"], one.get("elements"), one.get("aliases", [])) for name, one in OURS.items()}


def test_every_plugin_that_connects_has_them_from_the_fragment() -> None:
    """Galaxy shows no documentation of a plugin that needs the fragment of another collection."""
    files = [path for kind in ("modules", "lookup", "inventory") for path in PLUGINS.glob(f"{kind}/*.py")]
    with_it = {path.stem for path in files if "  - accelerators.openshift._auth\n" in path.read_text()}
    assert with_it == {path.stem for path in files} - {"gpu_instance_types", "gpu_versions"}
    fragments = re.compile(r"^extends_documentation_fragment:\n((?:  - .+\n)+)", re.MULTILINE)
    for path in files:
        for listed in fragments.findall(path.read_text()):
            assert all(
                line.startswith("  - accelerators.openshift._") or line in OF_ANSIBLE
                for line in listed.splitlines()
            ), path
