# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""awx_setup.yml makes the content of AWX, and a second import changes nothing. It needs no cluster."""

from __future__ import annotations

import shutil
import typing as t
from pathlib import Path

import pytest
import yaml
from awx_api.checks import RefusalError
from awx_api.server import TOKEN, Awx
from integration.playbook import ROOT, Playbook, Run

pytestmark = [
    pytest.mark.story("the shipped data are imported, then again, then after somebody changed them"),
    pytest.mark.long("molecule/awx/molecule.yml imports the same files twice in make test"),
]

# The smallest part of the data that stands alone.
FEW: t.Final = ("organization.yml",)
# An import starts a process for each of fifty objects: half a minute, or twenty times that on a busy machine.
LIMIT: t.Final = 1800


@pytest.fixture(scope="module")
def awx(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Awx]:
    found = Awx(tmp_path_factory.mktemp("awx")).start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTROLLER_HOST", found.address)
        patch.setenv("CONTROLLER_OAUTH_TOKEN", TOKEN)
        yield found
    found.stop()


@pytest.fixture(scope="module")
def setup(tmp_path_factory: pytest.TempPathFactory, program: Path) -> t.Callable[..., Run]:
    """Return a function that imports data files into AWX."""
    directory = tmp_path_factory.mktemp("setup")
    playbook = Playbook(directory, directory / "no-kubeconfig", program, LIMIT)
    return lambda *arguments, **variables: playbook.playbook("awx_setup", *arguments, **variables)


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Return a folder with a few of the data files, for a test to change."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in FEW:
        shutil.copy(ROOT / "awx" / name, folder)
    return folder


def shipped() -> list[dict[str, t.Any]]:
    found: list[dict[str, t.Any]] = yaml.safe_load((ROOT / "awx/templates.yml").read_text())[
        "controller_templates"
    ]
    return found


def test_wrong_data_sends_nothing(awx: Awx, setup: t.Callable[..., Run], few: Path) -> None:
    labels = [{"name": "gpu", "organization": "nobody"}]
    (few / "organization.yml").write_text(yaml.safe_dump({"controller_labels": labels}))
    run = setup(gpu_awx_data=str(few))
    assert run.rc != 0
    place = "controller_labels[0].organization: controller_organizations has no entry nobody"
    assert run.failure["msg"] == f"INPUT-AWX: {place}. Nothing was sent to AWX."
    assert awx.requests == []


def test_a_text_of_awx_that_ansible_would_fill_in_sends_nothing(
    awx: Awx, setup: t.Callable[..., Run], few: Path
) -> None:
    text = (ROOT / "awx/credentials.yml").read_text()
    (few / "credentials.yml").write_text(text.replace("!unsafe ", ""))
    run = setup(gpu_awx_data=str(few))
    assert run.rc != 0
    assert "INPUT-AWX: " in run.output
    assert "Write !unsafe before a text that AWX fills in" in run.output
    assert awx.requests == []


def test_check_mode_checks_the_data_and_sends_nothing(awx: Awx, setup: t.Callable[..., Run]) -> None:
    run = setup("--check")
    assert (run.rc, run.changed) == (0, 0), run.output
    assert awx.requests == []


def test_an_import_makes_everything(awx: Awx, setup: t.Callable[..., Run]) -> None:
    run = setup()
    assert run.rc == 0, run.output
    templates = shipped()
    assert awx.store.names("job_templates") == [one["name"] for one in templates]
    for template in templates:
        (found,) = awx.store.find("job_templates", {"name": template["name"]})
        assert awx.store.survey(found["id"]) == template.get("survey_spec", {})
        assert found["survey_enabled"] is bool(template.get("survey_spec"))
        assert len(awx.store.listed("job_templates", found["id"], "labels")) == len(template["labels"])
        assert awx.store.listed("job_templates", found["id"], "notification_templates_error")
    assert [status for _method, _path, status in awx.requests if status >= 400] == []


def test_every_template_that_requires_nothing_launches_without_an_answer(awx: Awx) -> None:
    for template in shipped():
        (found,) = awx.store.find("job_templates", {"name": template["name"]})
        questions = template.get("survey_spec", {}).get("spec", [])
        needed = [one["variable"] for one in questions if one["required"]]
        url = f"/api/v2/job_templates/{found['id']}/launch/"
        if not needed:
            status, job = awx.answer("POST", url, {})
            assert (status, sorted((job or {})["extra_vars"])) == (
                201,
                sorted(["gpu_clusters", *(one["variable"] for one in questions)]),
            )
            continue
        with pytest.raises(RefusalError) as refused:
            awx.answer("POST", url, {})
        missing = [f"'{one}' value missing" for one in needed]
        assert refused.value.body == {"variables_needed_to_start": missing}


def test_an_approval_stands_between_plan_and_enable(awx: Awx) -> None:
    (workflow,) = awx.store.find("workflow_job_templates", {"name": "GPU plan and enable"})
    nodes = awx.store.find("workflow_job_template_nodes", {"workflow_job_template": str(workflow["id"])})
    by_name = {one["identifier"]: one for one in nodes}
    assert by_name["plan"]["success_nodes"] == [by_name["approve"]["id"]]
    assert by_name["approve"]["success_nodes"] == [by_name["enable"]["id"]]
    assert "workflow_approval_templates" in by_name["approve"]["related"]["unified_job_template"]
    assert awx.store.listed("workflow_job_template_nodes", by_name["enable"]["id"], "credentials")


def test_a_second_import_keeps_the_secret_of_a_credential(
    awx: Awx, setup: t.Callable[..., Run], few: Path
) -> None:
    (credential,) = awx.store.find("credentials", {"name": "GPU cluster"})
    secret = {"host": "https://api.example.com:6443", "bearer_token": "sha256~x"}
    awx.store.change("credentials", credential["id"], {"inputs": secret})
    shutil.copy(ROOT / "awx/credentials.yml", few)
    before = len(awx.writes)
    run = setup(gpu_awx_data=str(few))
    assert (run.rc, run.changed) == (0, 0), run.output
    assert awx.writes[before:] == []


def test_an_import_puts_back_what_somebody_changed(awx: Awx, setup: t.Callable[..., Run], few: Path) -> None:
    (found,) = awx.store.find("notification_templates", {"name": "GPU failures"})
    awx.store.change("notification_templates", found["id"], {"description": "changed by hand"})
    before = len(awx.writes)
    run = setup(gpu_awx_data=str(few))
    assert run.rc == 0, run.output
    assert [(method, status) for method, _path, status in awx.writes[before:]] == [("PATCH", 200)]
    (now,) = awx.store.find("notification_templates", {"name": "GPU failures"})
    assert now["description"] == "Posts to the chat of the platform team"
