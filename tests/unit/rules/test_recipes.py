"""What a recipe of CONTRIBUTING.md asks for is there, for everything that was made by one."""

from __future__ import annotations

import datetime
import functools
import importlib
import re
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import instance_types
from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import CODES
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import registry as platforms
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import backend, known_texts
from openshift_sandbox import scenario

ROOT = Path(__file__).resolve().parents[3]
PLUGINS = ROOT / "plugins"
PREFIX = "ansible_collections.accelerators.openshift.plugins"
MODULES = sorted(path.stem for path in (PLUGINS / "modules").glob("*.py"))
OTHERS = sorted(
    path.stem for kind in ("callback", "filter", "lookup") for path in (PLUGINS / kind).glob("*.py")
)
SCENARIOS = sorted((ROOT / "sandbox/scenarios").glob("*.yml"))
BACKENDS = sorted(backend.OWN)


@functools.cache
def text(*places: str) -> str:
    """Return the text of all files that these patterns match, below the checkout."""
    paths = sorted({path for place in places for path in ROOT.glob(place) if path.is_file()})
    assert paths, places
    return "\n".join(path.read_text() for path in paths)


def documented(module: str) -> dict[str, t.Any]:
    """Return DOCUMENTATION of a module or lookup, such as `modules.gpu_plan`."""
    found = yaml.safe_load(importlib.import_module(f"{PREFIX}.{module}").DOCUMENTATION)
    assert isinstance(found, dict)
    return found


class TestModule:
    def test_the_page_of_modules_has_a_row(self) -> None:
        rows = re.findall(r"^\|([^|]*)\|", text("docs/playbooks-and-modules.md"), re.MULTILINE)
        assert [name for name in (*MODULES, *OTHERS) if not any(f"`{name}`" in row for row in rows)] == []

    def test_the_pages_describe_it(self) -> None:
        assert [name for name in MODULES if name not in text("docs/*.md")] == []

    def test_it_is_run_on_a_cluster(self) -> None:
        """A test names it, or it is a task of a role or of a playbook that a test or molecule plays."""
        tests = text("tests/integration/**/*.py", "molecule/**/*.yml")
        played = [one.name for one in ROOT.glob("playbooks/*.yml") if re.search(rf"\b{one.stem}\b", tests)]
        tasks = text(
            "roles/*/tasks/*.yml", "playbooks/tasks/*.yml", *(f"playbooks/{name}" for name in played)
        )
        run = {*re.findall(r'"(\w+)"', tests), *re.findall(r"accelerators\.openshift\.(\w+):", tasks)}
        assert [name for name in MODULES if name not in run] == []


class TestPlatform:
    @pytest.mark.parametrize("key", sorted(platforms.BY_KEY))
    def test_it_has_its_places(self, key: str) -> None:
        assert (PLUGINS / f"module_utils/_platforms/{key}.py").is_file()
        assert key in documented("modules.gpu_plan")["options"]["platform"]["choices"]
        assert re.search(rf"\b{key}\b", text("plugins/doc_fragments/_platforms.py"))
        assert key in text("docs/platforms.md").lower()
        assert (ROOT / f"examples/{key}.yml").is_file() or key == "aws"

    def test_the_planner_offers_every_platform(self) -> None:
        offered = set(documented("modules.gpu_plan")["options"]["platform"]["choices"])
        assert offered == {*platforms.BY_KEY, "oci", "other"}


class TestInstanceType:
    @pytest.mark.parametrize("cloud", sorted(instance_types.CLOUDS))
    def test_a_cloud_says_from_when_its_types_are(self, cloud: str) -> None:
        found = importlib.import_module(f"{PREFIX}.module_utils._catalogue.{cloud}")
        assert datetime.date.fromisoformat(found.AS_OF) <= datetime.datetime.now(datetime.UTC).date()
        assert cloud in documented("lookup.gpu_instance_types")["options"]["platform"]["choices"]


class TestBackend:
    @pytest.mark.parametrize("name", BACKENDS)
    def test_it_has_its_rooms(self, name: str) -> None:
        found = backend.backend(name)
        for wanted in ("NAME", "NAMESPACE", "check", "present", "absent"):
            assert hasattr(found, wanted), wanted

    def test_the_module_offers_every_backend(self) -> None:
        option = importlib.import_module(f"{PREFIX}.modules.special_resource").SPEC.options["backend"]
        assert sorted(option["choices"]) == BACKENDS

    @pytest.mark.parametrize("name", BACKENDS)
    def test_it_is_described_and_run(self, name: str) -> None:
        assert f"`{name}`" in text("docs/driver-stack.md")
        assert f"V({name})" in text("plugins/doc_fragments/_special_resource.py")
        assert name in text("tests/integration/**/*.py")


class TestLogSignature:
    def test_its_code_is_registered(self) -> None:
        assert all(re.compile(row.pattern) for row in known_texts.SIGNATURES)
        assert {row.code for row in known_texts.SIGNATURES} <= set(CODES)


class TestScenario:
    def test_it_says_what_happens_and_extends_one_that_exists(self) -> None:
        for path in SCENARIOS:
            lines = path.read_text().splitlines()
            assert next(line for line in lines if line != "---").startswith("# "), path
            found = yaml.safe_load(path.read_text())
            assert found["description"], path
            assert "extends" not in found or path.with_name(f"{found['extends']}.yml") in SCENARIOS, path
            assert scenario.load(path.stem).cluster, path

    def test_something_plays_it(self) -> None:
        """Named by a test, a benchmark or a page, or extended by another."""
        used = text(
            "tests/**/*.py", "molecule/**/*.yml", "benchmarks/**/*.py", "docs/*.md", "sandbox/README.md"
        )
        named = set(re.findall(r"(?<![\w-])[\w-]+(?![\w-])", used))
        extended = set(re.findall(r"^extends: (\S+)$", text("sandbox/scenarios/*.yml"), re.MULTILINE))
        assert {path.stem for path in SCENARIOS} - named - extended == set()
