# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the data files of awx_setup.yml before its first request to AWX."""

from __future__ import annotations

import datetime
import re
import typing as t

from . import addresses, credential_types, forms, notifications, recurrence, surveys
from .kinds import EVERYWHERE, KINDS, LINKS, NODE, TYPES, Kind

Data = t.Mapping[str, t.Any]
Lines = t.Iterator[str]
Content = dict[str, list[dict[str, t.Any]]]

CODE: t.Final = "INPUT-AWX"
# Inputs of credentials that are secrets, whatever type the credential has.
_SECRET: t.Final = re.compile(
    r"passw|token|secret|private|unlock|ssh_key|kubeconfig|authorization", re.IGNORECASE
)
_SHOWN: t.Final = 20


def message(content: t.Any, now: datetime.datetime) -> str:
    """Return one text that begins with the error code and names each problem by its path; "" without one.

    content: the lists of the data files, such as controller_templates. now: the time, with its zone.
    """
    found = list(problems(content, now))
    if not found:
        return ""
    more = f" {len(found) - _SHOWN} more." if len(found) > _SHOWN else ""
    return f"{CODE}: {'. '.join(found[:_SHOWN])}.{more} Nothing was sent to AWX."


def problems(content: t.Any, now: datetime.datetime) -> Lines:
    """Yield a line for each problem, beginning with its path."""
    if not isinstance(content, dict) or not content:
        yield "the data files have no list such as controller_templates"
        return
    known = _lists(content)
    for object_name, found in content.items():
        if object_name not in KINDS:
            yield f"{object_name}: is not one of {', '.join(KINDS)}"
        elif not isinstance(found, list):
            yield f"{object_name}: has to be a list"
        else:
            yield from _of_list(object_name, found, known)
    for number, entry in enumerate(known["controller_schedules"]):
        yield from _of_schedule(entry, f"controller_schedules[{number}]", known, now)


def _lists(content: Data) -> Content:
    """Return every known list with what is readable of its entries; an empty one for what is not there."""
    found = {object_name: content.get(object_name) for object_name in KINDS}
    return {
        object_name: list(map(forms.readable, entries)) if isinstance(entries, list) else []
        for object_name, entries in found.items()
    }


def _of_list(object_name: str, written: t.Sequence[t.Any], content: Content) -> Lines:
    seen: set[tuple[str, str]] = set()
    for number, entry in enumerate(content[object_name]):
        path = f"{object_name}[{number}]"
        yield from _of_entry(written[number], KINDS[object_name], path, content)
        # A host is unique in its inventory, a label in its organisation.
        within = {"controller_hosts": "inventory", "controller_labels": "organization"}.get(object_name, "")
        identity = (str(entry.get("name")), str(entry.get(within)))
        if identity in seen:
            yield f"{path}.name: another entry has the name {entry.get('name')}"
        seen.add(identity)
        if "survey_spec" in entry:
            yield from surveys.problems(entry["survey_spec"], f"{path}.survey_spec")
        if entry.get("survey_enabled") and "survey_spec" not in entry:
            yield f"{path}.survey_enabled: there is no survey_spec"
        yield from _secrets(object_name, entry, path, content)
        if object_name in _OWN:
            yield from _OWN[object_name](entry, path, content)


def _of_entry(written: t.Any, kind: Kind, path: str, content: Content) -> Lines:
    if not written or not isinstance(written, dict):
        yield f"{path}: has to be a mapping with the keys {', '.join(kind.required)}"
        return
    for key in sorted(map(str, written.keys() - set(kind.keys))):
        yield f"{path}.{key}: the playbook knows no such key"
    for key in kind.required:
        # AWX leaves out blanks at both ends.
        if written.get(key) is None or not str(written[key]).strip():
            yield f"{path}.{key}: is missing"
    yield from forms.problems(written, path)
    entry = forms.readable(written)
    for key, other in kind.refers.items():
        known = {str(there.get("name")) for there in content[other]} | EVERYWHERE.get(other, frozenset())
        named = entry.get(key) or []
        for number, name in enumerate(named if isinstance(named, list) else [named]):
            if name not in known:
                place = f"{path}.{key}[{number}]" if isinstance(named, list) else f"{path}.{key}"
                yield f"{place}: {other} has no entry {name}"


def _secrets(object_name: str, entry: Data, path: str, content: Content) -> Lines:
    """Yield each secret that stands in the data: secrets belong into AWX or into its secret manager."""
    if object_name == "controller_credentials":
        hidden = {str(field.get("id")) for field in _fields(entry, content) if field.get("secret")}
        for key, value in (entry.get("inputs") or {}).items():
            if value and (key in hidden or _SECRET.search(str(key))):
                yield f"{path}.inputs.{key}: is a secret; leave it out, and set it in AWX"
    if object_name == "controller_notifications":
        found = entry.get("notification_configuration") or {}
        headers = found.get("headers")
        for key, value in {**found, **(headers if isinstance(headers, dict) else {})}.items():
            if value and value != notifications.KEPT and _SECRET.search(str(key)):
                yield f"{path}.notification_configuration.{key}: is a secret; set it in AWX"


def _fields(credential: Data, content: Content) -> t.Sequence[Data]:
    """Return the fields of a credential's type; none if the data have no such type."""
    name = str(credential.get("credential_type"))
    own = {str(kind.get("name")): kind for kind in content["controller_credential_types"]}
    if name in own:
        return credential_types.fields(own[name])
    return TYPES[name][0] if name in TYPES else ()


def _of_type(entry: Data, path: str, _content: Content) -> Lines:
    yield from credential_types.problems(entry, path)


def _of_credential(entry: Data, path: str, content: Content) -> Lines:
    if fields := _fields(entry, content):
        yield from credential_types.inputs(fields, entry.get("inputs") or {}, f"{path}.inputs")


def _of_notification(entry: Data, path: str, _content: Content) -> Lines:
    yield from notifications.problems(entry, path)


def _of_image(entry: Data, path: str, _content: Content) -> Lines:
    if entry.get("image") and (wrong := addresses.image(str(entry["image"]))):
        yield f"{path}.image: {wrong}"


def _of_project(entry: Data, path: str, content: Content) -> Lines:
    kind, url = str(entry.get("scm_type")), str(entry.get("scm_url", "")).strip()
    if entry.get("scm_type") and url and (wrong := addresses.repository(kind, url)):
        yield f"{path}.scm_url: {wrong}"
    if kind == "archive" and entry.get("scm_branch"):
        yield f"{path}.scm_branch: an archive has none"
    found = _types([entry["credential"]], content) if entry.get("credential") else []
    if kind != "insights" and found and found[0] != "Source Control":
        yield f"{path}.credential: is of the type {found[0]}; a project needs one of the type Source Control"


def _of_source(entry: Data, path: str, _content: Content) -> Lines:
    if entry.get("source") == "scm" and not entry.get("source_project"):
        yield f"{path}.source_project: is missing; the source scm reads a project"
    for key in ("source_project", "source_path") if entry.get("source") != "scm" else ():
        if entry.get(key):
            yield f"{path}.{key}: only the source scm has one"


def _of_host(entry: Data, path: str, _content: Content) -> Lines:
    if wrong := addresses.host(str(entry.get("name", ""))):
        yield f"{path}.name: {wrong}"


def _of_template(entry: Data, path: str, content: Content) -> Lines:
    yield from _of_credentials(entry, path, content)
    for number, kind in enumerate(_types(entry.get("credentials") or [], content)):
        if kind in TYPES and not TYPES[kind][1]:
            yield f"{path}.credentials[{number}]: a job takes none of the type {kind}"


def _of_credentials(entry: Data, path: str, content: Content) -> Lines:
    """Yield each credential beside another one of its type. AWX takes several of the type Vault."""
    found = _types(entry.get("credentials") or [], content)
    for number, kind in enumerate(found):
        if kind and kind != "Vault" and kind in found[:number]:
            yield f"{path}.credentials[{number}]: another one is of the type {kind}, too"


def _types(names: t.Sequence[t.Any], content: Content) -> list[str]:
    """Return the types of credentials, "" for one that no list has."""
    known = {str(credential.get("name")): credential for credential in content["controller_credentials"]}
    return [str(known.get(str(name), {}).get("credential_type", "")) for name in names]


def _of_workflow(entry: Data, path: str, content: Content) -> Lines:
    nodes = entry.get("simplified_workflow_nodes")
    if not isinstance(nodes, list) or not nodes:
        yield f"{path}.simplified_workflow_nodes: is missing"
        return
    names = [str(node.get("identifier")) for node in nodes if isinstance(node, dict)]
    given = {str(question.get("variable")) for question in surveys.questions(entry)} | {
        *(entry.get("extra_vars") or {})
    }
    for number, node in enumerate(nodes):
        here = f"{path}.simplified_workflow_nodes[{number}]"
        yield from _of_entry(node, NODE, here, content)
        if isinstance(node, dict):
            yield from _of_node(forms.readable(node), here, names, given, content)
    readable = {str(node.get("identifier")): forms.readable(node) for node in nodes if isinstance(node, dict)}
    for name in _in_circles(readable):
        yield f"{path}.simplified_workflow_nodes[{names.index(name)}]: the ways from {name} lead back to it"


def _in_circles(nodes: t.Mapping[str, Data]) -> Lines:
    for name in nodes:
        reached: set[str] = set()
        ways = [name]
        while ways:
            node = nodes.get(ways.pop(), {})
            ways += (fresh := {str(target) for link in LINKS for target in node.get(link) or []} - reached)
            reached |= fresh
        if name in reached:
            yield name


def _of_node(node: Data, path: str, names: list[str], given: set[str], content: Content) -> Lines:
    if names.count(str(node.get("identifier"))) > 1:
        yield f"{path}.identifier: another node has it, too"
    linked: list[str] = []
    for link in LINKS:
        for number, name in enumerate(node.get(link) or []):
            if name not in names:
                yield f"{path}.{link}[{number}]: the workflow has no node {name}"
            elif name in linked:
                yield f"{path}.{link}[{number}]: {name} follows the node already"
        linked += node.get(link) or []
    if ("approval_node" in node) == ("unified_job_template" in node):
        yield f"{path}: needs either unified_job_template or approval_node"
    elif "approval_node" in node:
        yield from _of_approval(node["approval_node"] or {}, f"{path}.approval_node")
    else:
        yield from _of_job(node, path, content, given)


def _of_approval(approval: Data, path: str) -> Lines:
    if not str(approval.get("name") or "").strip():
        yield f"{path}.name: is missing"
    for key in sorted(map(str, approval.keys() - {"name", "description", "timeout"})):
        yield f"{path}.{key}: an approval has no such key"
    yield from forms.problems(approval, path)


def _of_job(entry: Data, path: str, content: Content, later: t.Collection[str] | None = None) -> Lines:
    """Yield what is wrong with the template that a node or a schedule names, and with its answers.

    later: for a node the variables that its workflow gives.
    """
    name = entry.get("unified_job_template")
    runs = (*content["controller_templates"], *content["controller_workflows"])
    template = next((run for run in runs if run.get("name") == name), None)
    sources = (*content["controller_projects"], *content["controller_inventory_sources"])
    if template is None:
        if name not in [source.get("name") for source in sources]:
            yield f"{path}.unified_job_template: there is no template or workflow {name}"
        for key in ("inventory", "limit", "credentials", "extra_data"):
            if entry.get(key):
                yield f"{path}.{key}: {name} takes none"
        return
    yield from surveys.answers(template, entry.get("extra_data", {}), f"{path}.extra_data", later)
    asks = {"inventory": "inventory", "limit": "limit", "credentials": "credential"}
    for key, asked in asks.items():
        is_own = key != "credentials" and entry.get(key) == template.get(key)
        if entry.get(key) and not is_own and not template.get(f"ask_{asked}_on_launch"):
            yield f"{path}.{key}: {name} does not ask for it (ask_{asked}_on_launch)"
    yield from _of_credentials(entry, path, content)
    for number, credential in enumerate(entry.get("credentials") or []):
        if credential in (template.get("credentials") or []):
            yield f"{path}.credentials[{number}]: {name} has {credential} already"


def _of_schedule(entry: Data, path: str, content: Content, now: datetime.datetime) -> Lines:
    if entry.get("rrule") and (wrong := recurrence.problem(entry["rrule"], now)):
        yield f"{path}.rrule: {wrong}"
    if entry.get("unified_job_template"):
        yield from _of_job(entry, path, content)


_OWN: t.Final[dict[str, t.Callable[[Data, str, Content], Lines]]] = {
    "controller_credential_types": _of_type,
    "controller_credentials": _of_credential,
    "controller_execution_environments": _of_image,
    "controller_hosts": _of_host,
    "controller_inventory_sources": _of_source,
    "controller_notifications": _of_notification,
    "controller_projects": _of_project,
    "controller_templates": _of_template,
    "controller_workflows": _of_workflow,
}
