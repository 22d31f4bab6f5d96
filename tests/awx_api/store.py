# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of the stand-in for AWX: kept in memory, checked and shown as AWX 24.6.1 does."""

from __future__ import annotations

import copy
import itertools
import typing as t
import uuid

import yaml
from awx_api import checks, configurations
from awx_api.checks import RefusalError
from awx_api.fields import ENDPOINTS, MANAGED_KINDS, MANAGED_TYPES, UNIFIED

Data = dict[str, t.Any]

API: t.Final = "/api/v2/"
_SECRET: t.Final = "$encrypted$"
LINKS: t.Final = ("success_nodes", "failure_nodes", "always_nodes")


class Store:
    """All objects, by collection and id. playbooks: what every project finds in its repository."""

    def __init__(self, playbooks: t.Iterable[str]) -> None:
        self._playbooks = set(playbooks)
        self._numbers = itertools.count(1)
        self._objects: dict[str, dict[int, Data]] = {name: {} for name in ENDPOINTS}
        self._lists: dict[tuple[str, int, str], list[int]] = {}
        self._surveys: dict[int, Data] = {}
        self._add("organizations", {"name": "Default"})
        for name in ("controlplane", "default"):
            self._add("instance_groups", {"name": name})
        for name, fields in MANAGED_TYPES.items():
            given = {"name": name, "kind": MANAGED_KINDS[name], "managed": True, "inputs": {"fields": fields}}
            self._add("credential_types", given)

    def names(self, collection: str) -> list[str]:
        """Return the names of all objects of a collection."""
        return [str(one.get("name", one.get("identifier"))) for one in self._objects[collection].values()]

    def find(self, collection: str, wanted: Data) -> list[Data]:
        """Return the objects whose fields have these values. Raise RefusalError for an unknown field."""
        places = UNIFIED if collection == "unified_job_templates" else (collection,)
        found = [(place, one) for place in places for one in self._objects[place].values()]
        exact = {key: value for key, value in wanted.items() if not key.startswith("or__")}
        either = {key.removeprefix("or__"): value for key, value in wanted.items() if key not in exact}
        exact.pop("type", None)
        for key in (*exact, *either):
            if key != "id" and found and not any(key in one for _place, one in found):
                raise RefusalError(detail=f"{collection} has no field named '{key}'")
        return [
            self.show(place, one["id"])
            for place, one in found
            if all(str(one.get(key)) == value for key, value in exact.items())
            and (not either or any(str(one.get(key)) == value for key, value in either.items()))
        ]

    def has(self, collection: str, number: int) -> bool:
        """Return True if the collection has an object with this id."""
        places = UNIFIED if collection == "unified_job_templates" else (collection,)
        approvals = ("workflow_approval_templates",) if collection == "unified_job_templates" else ()
        return any(number in self._objects[place] for place in (*places, *approvals))

    def show(self, collection: str, number: int) -> Data:
        """Return an object as AWX shows it: with its links, and without its secrets."""
        kind, one = ENDPOINTS[collection], copy.deepcopy(self._objects[collection][number])
        url = f"{API}{collection}/{number}/"
        related = {name: f"{url}{name}/" for name in kind.lists}
        if "survey_enabled" in kind.fields:
            related["survey_spec"] = f"{url}survey_spec/"
        if collection == "workflow_job_template_nodes":
            related["create_approval_template"] = f"{url}create_approval_template/"
            if one["unified_job_template"]:
                place = self._place(one["unified_job_template"])
                related["unified_job_template"] = f"{API}{place}/{one['unified_job_template']}/"
            for name in LINKS:
                one[name] = list(self.listed(collection, number, name))
        if collection == "credentials":
            hidden = {field["id"] for field in self._inputs(one) if field.get("secret")}
            one["inputs"] = {key: _SECRET if key in hidden else it for key, it in one["inputs"].items()}
        return {"type": kind.type, "url": url, "related": related, "summary_fields": {}, **one}

    def create(self, collection: str, given: Data) -> Data:
        """Make an object and return it. Raise RefusalError as AWX does."""
        kind = ENDPOINTS[collection]
        missing = [field for field in kind.required if not str(given.get(field) or "").strip()]
        if missing:
            blank = "This field may not be blank."
            raise RefusalError(
                **{field: [blank if given.get(field) else "This field is required."] for field in missing}
            )
        number = self._add(collection, self._checked(collection, given, {}))
        shown = self.show(collection, number)
        if collection == "projects":
            shown["summary_fields"] = {"current_update": {"id": number}}
        return shown

    def change(self, collection: str, number: int, given: Data) -> Data:
        """Change fields of an object and return it. Raise RefusalError as AWX does."""
        live = self._objects[collection][number]
        live.update(self._checked(collection, given, live))
        return self.show(collection, number)

    def listed(self, collection: str, number: int, name: str) -> list[int]:
        """Return the ids of the objects that this object is associated with; the caller may change it."""
        return self._lists.setdefault((collection, number, name), [])

    def associate(self, collection: str, number: int, name: str, given: Data) -> None:
        """Associate or disassociate another object. Raise RefusalError if there is no such object."""
        other, found = int(given["id"]), self.listed(collection, number, name)
        if not self.has(ENDPOINTS[collection].lists[name], other):
            raise RefusalError(detail=f"{name} has no object {other}")
        if given.get("disassociate"):
            found.remove(other)
            return
        if name == "credentials":
            self._check_credential(collection, number, other)
        if name in LINKS:
            self._check_link(number, name, other)
        found.append(other)

    def launch(self, collection: str, number: int, given: Data) -> Data:
        """Return a new job of a template or workflow. Raise RefusalError as AWX does."""
        template = self._objects[collection][number]
        answers = given.get("extra_vars") or {}
        if isinstance(answers, str):
            checks.variables(answers, "extra_vars")
            answers = yaml.safe_load(answers)
        # The launch of a job template ignores prompts that it does not ask for.
        exempt = ("prompts",) if collection == "job_templates" else ()
        questions = self._questions(template)
        checks.prompts(template, questions, {**given, "extra_data": answers}, exempt)
        defaults = {one["variable"]: one["default"] for one in questions if one.get("default") is not None}
        kept = {
            key: value
            for key, value in defaults.items()
            if not checks.answers(questions, {key: value}, required=False)
        }
        own = yaml.safe_load(template["extra_vars"] or "{}")
        job = next(self._numbers)
        kind = "job" if collection == "job_templates" else "workflow_job"
        return {kind: job, "id": job, "extra_vars": {**own, **kept, **answers}, "ignored_fields": {}}

    def survey(self, number: int) -> Data:
        """Return the survey of a template, {} without one."""
        return copy.deepcopy(self._surveys.get(number, {}))

    def set_survey(self, number: int, spec: Data) -> None:
        """Give a template its survey; {} takes it away. Raise RefusalError as AWX does."""
        if spec:
            checks.survey(spec)
        self._surveys[number] = spec

    def approval(self, number: int, given: Data) -> Data:
        """Make the approval of a node, and return it."""
        made = self.create("workflow_approval_templates", given)
        self._objects["workflow_job_template_nodes"][number]["unified_job_template"] = made["id"]
        return made

    def _add(self, collection: str, given: Data) -> int:
        number = next(self._numbers)
        fields = copy.deepcopy(ENDPOINTS[collection].fields)
        self._objects[collection][number] = {"id": number, **fields, **given}
        return number

    def _checked(self, collection: str, given: Data, live: Data) -> Data:
        """Return the fields to store. AWX ignores unknown fields. live: the object, {} for a new one."""
        kind = ENDPOINTS[collection]
        found = {key: value for key, value in given.items() if key in kind.fields}
        for key, value in found.items():
            if value is None and kind.fields[key] == "":
                raise RefusalError(**{key: ["This field may not be null."]})
            if key not in kind.links:
                checks.field(collection, key, value)
            if key in kind.links and value and not self.has(kind.links[key], int(value)):
                raise RefusalError(**{key: [f'Invalid pk "{value}" - object does not exist.']})
        whole = {**kind.fields, **live, **found}
        found |= getattr(self, f"_check_{collection}", lambda _whole: {})(whole)
        whole |= found
        for other in self._objects[collection].values():
            same = kind.unique and all(other.get(key) == whole.get(key) for key in kind.unique)
            if same and other["id"] != live.get("id"):
                raise RefusalError(__all__=[f"{kind.type} with these {', '.join(kind.unique)} exists."])
        return found

    def _check_credential_types(self, whole: Data) -> Data:
        configurations.credential_type(whole)
        return {}

    def _check_credentials(self, whole: Data) -> Data:
        configurations.inputs(self._inputs(whole), whole["inputs"])
        return {}

    def _check_execution_environments(self, whole: Data) -> Data:
        checks.image(whole["image"])
        return {}

    def _check_projects(self, whole: Data) -> Data:
        checks.project(whole, self._kind(whole["credential"]) if whole["credential"] else "")
        return {}

    def _check_inventory_sources(self, whole: Data) -> Data:
        if whole["source"] == "scm" and not whole["source_project"]:
            raise RefusalError(source_project=["Project required for scm type sources."])
        odd = [key for key in ("source_project", "source_path", "scm_branch") if whole[key]]
        if whole["source"] != "scm" and odd:
            raise RefusalError(detail=[f"Cannot set {' '.join(odd)} if not SCM type."])
        return {}

    def _check_notification_templates(self, whole: Data) -> Data:
        kind, given = whole["notification_type"], whole["notification_configuration"]
        configurations.messages(whole["messages"])
        return {"notification_configuration": configurations.notification(kind, given)}

    def _check_inventories(self, whole: Data) -> Data:
        checks.variables(whole["variables"], "variables")
        return {}

    def _check_hosts(self, whole: Data) -> Data:
        checks.host(whole["name"])
        return self._check_inventories(whole)

    def _check_job_templates(self, whole: Data) -> Data:
        """Refuse a template without project, inventory or playbook; its organisation is the project's."""
        if not whole["project"]:
            raise RefusalError(project=["This field is required."])
        if not whole["inventory"] and not whole["ask_inventory_on_launch"]:
            raise RefusalError(inventory=["Job Template must provide an inventory or allow prompting."])
        if whole["playbook"] not in self._playbooks:
            raise RefusalError(playbook=["Playbook not found for project."])
        checks.variables(whole["extra_vars"], "extra_vars")
        return {"organization": self._objects["projects"][whole["project"]]["organization"]}

    def _check_workflow_job_template_nodes(self, whole: Data) -> Data:
        # The workflow, or what ran before the node, may answer what its template requires.
        self._check_prompts(whole, ("required",))
        return {"identifier": whole["identifier"] or str(uuid.uuid4())}

    def _check_schedules(self, whole: Data) -> Data:
        checks.rrule(whole["rrule"])
        self._check_prompts(whole)
        return {}

    def _check_prompts(self, whole: Data, exempt: t.Collection[str] = ()) -> None:
        if template := self._template(whole["unified_job_template"]):
            checks.prompts(template, self._questions(template), whole, exempt)
            return
        if whole["unified_job_template"]:
            given = [key for key in ("extra_data", *checks.PROMPTS) if whole[key] not in (None, {})]
            if given:
                raise RefusalError(**{key: ["Field is not allowed on launch."] for key in given})

    def _check_credential(self, collection: str, number: int, other: int) -> None:
        """Refuse a credential that a template, a node or a schedule cannot have."""
        mine = self.listed(collection, number, "credentials")
        types = [self._objects["credentials"][one]["credential_type"] for one in mine]
        kind = self._objects["credentials"][other]["credential_type"]
        name = self._objects["credential_types"][kind]["name"]
        if collection == "job_templates":
            if kind in types:
                raise RefusalError(error=f"Cannot assign multiple {name} credentials.")
            if self._kind(other) not in ("ssh", "vault", "cloud", "net", "kubernetes"):
                raise RefusalError(error=f"Cannot assign a Credential of kind `{self._kind(other)}`.")
            return
        template = self._template(self._objects[collection][number]["unified_job_template"])
        if template is None or "ask_credential_on_launch" not in template:
            raise RefusalError(msg="Related template cannot accept credentials on launch.")
        if not template["ask_credential_on_launch"]:
            raise RefusalError(msg="Related template is not configured to accept credentials on launch.")
        if kind in types:
            raise RefusalError(msg=f"This launch configuration already provides a {name} credential.")
        if other in self.listed("job_templates", template["id"], "credentials"):
            raise RefusalError(msg=f"Related template already uses {name} credential.")

    def _check_link(self, number: int, name: str, other: int) -> None:
        """Refuse a link that makes a circle, or that is there as another kind of link."""
        nodes = "workflow_job_template_nodes"
        if other != number and any(other in self.listed(nodes, number, one) for one in LINKS if one != name):
            raise RefusalError(Error="Relationship not allowed.")
        reached, ways = set(), [other]
        while ways:
            reached.add(one := ways.pop())
            ways += [to for link in LINKS for to in self.listed(nodes, one, link) if to not in reached]
        if number in reached:
            raise RefusalError(Error="Cycle detected.")

    def _kind(self, credential: int) -> str:
        kind = self._objects["credentials"][credential]["credential_type"]
        return str(self._objects["credential_types"][kind]["kind"])

    def _questions(self, template: Data) -> list[Data]:
        return list(self.survey(template["id"]).get("spec", [])) if template["survey_enabled"] else []

    def _inputs(self, credential: Data) -> list[Data]:
        kind = self._objects["credential_types"][credential["credential_type"]]
        return list(kind["inputs"].get("fields", []))

    def _template(self, number: int | None) -> Data | None:
        places = ("job_templates", "workflow_job_templates")
        return next((self._objects[one][number] for one in places if number in self._objects[one]), None)

    def _place(self, number: int) -> str:
        return next(name for name, objects in self._objects.items() if number in objects)
