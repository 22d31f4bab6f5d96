"""The lookup of versions: its options, its file, its sample."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from ansible.errors import AnsibleLookupError
from ansible.parsing.dataloader import DataLoader

from ansible_collections.accelerators.openshift.plugins.lookup import gpu_versions
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import generations

OPTIONS: t.Final = yaml.safe_load(gpu_versions.DOCUMENTATION)["options"]


def look(tmp_path: Path, *terms: str, **options: t.Any) -> list[dict[str, t.Any]]:
    loader = DataLoader()
    loader.set_basedir(str(tmp_path))
    lookup = gpu_versions.LookupModule(loader=loader)
    lookup.set_options = lambda **_more: None
    lookup.get_options = lambda: {**dict.fromkeys(OPTIONS), **options}
    lookup.find_file_in_search_path = lambda _variables, _folder, name, ignore_missing: (
        str(tmp_path / name) if (tmp_path / name).exists() else None
    )
    return lookup.run(list(terms), {}, **options)


def test_the_sample_is_a_real_answer(tmp_path: Path) -> None:
    (sample,) = yaml.safe_load(gpu_versions.RETURN)["_list"]["sample"]
    assert look(tmp_path, openshift="4.22", driver="595", generation="Hopper") == [sample]


def test_the_choices_are_all_generations() -> None:
    assert tuple(OPTIONS["generation"]["choices"]) == generations.NAMES


def test_facts_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "own.yml").write_text('as_of: "2027-02-01"\ndrivers: ["595.99.01"]\n')
    (row,) = look(tmp_path, facts="own.yml", openshift="4.22", driver="595", generation="Hopper")
    assert row["driver_version"] == "595.99.01"
    with pytest.raises(AnsibleLookupError, match=r"INPUT-VERSIONS.*nothing\.yml.*does not exist"):
        look(tmp_path, facts="nothing.yml")


def test_wrong_calls(tmp_path: Path) -> None:
    with pytest.raises(AnsibleLookupError, match="gpu_model='H100'"):
        look(tmp_path, "H100")
    lookup = gpu_versions.LookupModule()
    lookup.set_options = lambda **_more: None
    lookup.get_options = lambda: dict.fromkeys(OPTIONS)
    with pytest.raises(AnsibleLookupError, match="Did you mean gpu_model"):
        lookup.run([], {}, gpu_modle="H100")
