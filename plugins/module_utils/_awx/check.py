# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the data files of awx_setup.yml before its first request to AWX."""

from __future__ import annotations

import datetime
import re
import typing as t

from . import forms, recurrence, surveys
from .kinds import EVERYWHERE, KINDS, LINKS, NODE, Kind

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
    for title, found in content.items():
        if title not in KINDS:
            yield f"{title}: is not one of {', '.join(KINDS)}"
        elif not isinstance(found, list):
            yield f"{title}: has to be a list"
        else:
            yield from _of_list(title, found, known)
    for number, entry in enumerate(known["controller_schedules"]):
        yield from _of_schedule(entry, f"controller_schedules[{number}]", known, now)


def _lists(content: Data) -> Content:
    """Return every known list with what is readable of its entries; an empty one for what is not there."""
    found = {title: content.get(title) for title in KINDS}
    return {
        title: list(map(forms.readable, entries)) if isinstance(entries, list) else []
        for title, entries in found.items()
    }


def _of_list(title: str, written: t.Sequence[t.Any], content: Content) -> Lines:
    seen: set[tuple[str, str]] = set()
    for number, entry in enumerate(content[title]):
        path = f"{title}[{number}]"
        yield from _of_entry(written[number], KINDS[title], path, content)
        # A host is unique in its inventory; what belongs to an organisation is unique in it.
        identity = (str(entry.get("name")), str(entry.get("inventory" if title.endswith("hosts") else "")))
        if identity in seen:
            yield f"{path}.name: another entry has the name {entry.get('name')}"
        seen.add(identity)
        if "survey_spec" in entry:
            yield from surveys.problems(entry["survey_spec"], f"{path}.survey_spec")
        if entry.get("survey_enabled") and "survey_spec" not in entry:
            yield f"{path}.survey_enabled: there is no survey_spec"
        yield from _secrets(title, entry, path, content)
        if title == "controller_workflows":
            yield from _of_workflow(entry, path, content)


def _of_entry(written: t.Any, kind: Kind, path: str, content: Content) -> Lines:
    if not written or not isinstance(written, dict):
        yield f"{path}: has to be a mapping with the keys {', '.join(kind.required)}"
        return
    for key in sorted(map(str, written.keys() - set(kind.keys))):
        yield f"{path}.{key}: the playbook knows no such key"
    for key in kind.required:
        if written.get(key) in (None, ""):
            yield f"{path}.{key}: is missing"
    yield from forms.problems(written, path)
    entry = forms.readable(written)
    for key, other in kind.refers.items():
        known = {str(one.get("name")) for one in content[other]} | EVERYWHERE.get(other, frozenset())
        named = entry.get(key) or []
        for number, name in enumerate(named if isinstance(named, list) else [named]):
            if name not in known:
                place = f"{path}.{key}[{number}]" if isinstance(named, list) else f"{path}.{key}"
                yield f"{place}: {other} has no entry {name}"


def _secrets(title: str, entry: Data, path: str, content: Content) -> Lines:
    """Yield each secret that stands in the data: secrets belong into AWX or into its secret manager."""
    if title == "controller_credentials":
        types = {str(one.get("name")): one for one in content["controller_credential_types"]}
        fields = (types.get(str(entry.get("credential_type")), {}).get("inputs") or {}).get("fields")
        listed = [one for one in fields if isinstance(one, dict)] if isinstance(fields, list) else []
        hidden = {str(field.get("id")) for field in listed if field.get("secret")}
        for key, value in (entry.get("inputs") or {}).items():
            if value and (key in hidden or _SECRET.search(str(key))):
                yield f"{path}.inputs.{key}: is a secret; leave it out, and set it in AWX"
    if title == "controller_notifications":
        found = entry.get("notification_configuration") or {}
        headers = found.get("headers")
        for key, value in {**found, **(headers if isinstance(headers, dict) else {})}.items():
            if value and _SECRET.search(str(key)):
                yield f"{path}.notification_configuration.{key}: is a secret; set it in AWX"


def _of_workflow(entry: Data, path: str, content: Content) -> Lines:
    nodes = entry.get("simplified_workflow_nodes")
    if not isinstance(nodes, list) or not nodes:
        yield f"{path}.simplified_workflow_nodes: is missing"
        return
    names = [str(node.get("identifier")) for node in nodes if isinstance(node, dict)]
    asked = {str(one.get("variable")) for one in surveys.questions(entry)}
    for number, node in enumerate(nodes):
        here = f"{path}.simplified_workflow_nodes[{number}]"
        yield from _of_entry(node, NODE, here, content)
        if isinstance(node, dict):
            yield from _of_node(forms.readable(node), here, names, asked, content)


def _of_node(node: Data, path: str, names: list[str], asked: set[str], content: Content) -> Lines:
    if names.count(str(node.get("identifier"))) > 1:
        yield f"{path}.identifier: another node has it, too"
    for link in LINKS:
        for number, name in enumerate(node.get(link) or []):
            if name not in names:
                yield f"{path}.{link}[{number}]: the workflow has no node {name}"
    if ("approval_node" in node) == ("unified_job_template" in node):
        yield f"{path}: needs either unified_job_template or approval_node"
    elif "approval_node" in node:
        if not (node["approval_node"] or {}).get("name"):
            yield f"{path}.approval_node.name: is missing"
    else:
        yield from _of_job(node, path, content, asked)


def _of_job(entry: Data, path: str, content: Content, later: t.Collection[str] = ()) -> Lines:
    """Yield what is wrong with the template that a node or a schedule names, and with its answers."""
    name = entry.get("unified_job_template")
    runs = (*content["controller_templates"], *content["controller_workflows"])
    template = next((one for one in runs if one.get("name") == name), None)
    sources = (*content["controller_projects"], *content["controller_inventory_sources"])
    if template is None:
        if name not in [one.get("name") for one in sources]:
            yield f"{path}.unified_job_template: there is no template or workflow {name}"
        return
    yield from surveys.answers(template, entry.get("extra_data", {}), f"{path}.extra_data", later)
    asks = {"inventory": "inventory", "limit": "limit", "credentials": "credential"}
    for key, asked in asks.items():
        if entry.get(key) and not template.get(f"ask_{asked}_on_launch"):
            yield f"{path}.{key}: {name} does not ask for it (ask_{asked}_on_launch)"


def _of_schedule(entry: Data, path: str, content: Content, now: datetime.datetime) -> Lines:
    if entry.get("rrule") and (wrong := recurrence.problem(entry["rrule"], now)):
        yield f"{path}.rrule: {wrong}"
    if entry.get("unified_job_template"):
        yield from _of_job(entry, path, content)
