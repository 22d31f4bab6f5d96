# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX 24.6.1 stores: the collections of its REST API, their fields and the links between them.

Stands in for the serializers of AWX (awx/api/serializers.py). It has only the fields that the modules of
awx.awx send for the content of this collection, and knows no users, roles, jobs or instances.
"""

from __future__ import annotations

import typing as t

Data = dict[str, t.Any]


class Endpoint(t.NamedTuple):
    """A collection of objects, such as job_templates.

    type: of its objects. fields: each with its default; "" may not be null. required: fields without which
    AWX answers 400. unique: fields that together occur once. links: fields that hold the id of an object of
    another collection. lists: links to many, each a collection of its own below the object.
    """

    type: str
    fields: Data
    required: tuple[str, ...] = ("name",)
    unique: tuple[str, ...] = ("name",)
    links: t.Mapping[str, str] = {}
    lists: t.Mapping[str, str] = {}


_NAMED: t.Final[Data] = {"name": "", "description": ""}
_ORGANIZATION: t.Final = {"organization": "organizations"}
_NOTIFIES: t.Final = {
    f"notification_templates_{event}": "notification_templates" for event in ("started", "success", "error")
}
_PROMPTED: t.Final[Data] = {
    "extra_data": {},
    "inventory": None,
    "scm_branch": None,
    "job_type": None,
    "job_tags": None,
    "skip_tags": None,
    "limit": None,
    "diff_mode": None,
    "verbosity": None,
    "forks": None,
    "job_slice_count": None,
    "timeout": None,
    "execution_environment": None,
}
_ASKS: t.Final = dict.fromkeys(
    [
        f"ask_{what}_on_launch"
        for what in (
            *("credential", "diff_mode", "execution_environment", "forks", "instance_groups", "inventory"),
            *("job_slice_count", "job_type", "labels", "limit", "scm_branch", "skip_tags", "tags", "timeout"),
            *("variables", "verbosity"),
        )
    ],
    False,
)
_WORKFLOW_ASKS: t.Final = dict.fromkeys(
    [
        f"ask_{what}_on_launch"
        for what in ("inventory", "labels", "limit", "scm_branch", "skip_tags", "tags", "variables")
    ],
    False,
)
ENDPOINTS: t.Final[dict[str, Endpoint]] = {
    "organizations": Endpoint(
        "organization",
        {**_NAMED, "max_hosts": 0, "custom_virtualenv": None, "default_environment": None},
        lists={**_NOTIFIES, "notification_templates_approvals": "notification_templates"},
    ),
    "labels": Endpoint(
        "label",
        {"name": "", "organization": None},
        ("name", "organization"),
        ("name", "organization"),
        _ORGANIZATION,
    ),
    "execution_environments": Endpoint(
        "execution_environment",
        {**_NAMED, "organization": None, "image": "", "managed": False, "credential": None, "pull": ""},
        ("name", "image"),
        ("name",),
        {**_ORGANIZATION, "credential": "credentials"},
    ),
    "credential_types": Endpoint(
        "credential_type",
        {**_NAMED, "kind": "", "namespace": None, "managed": False, "inputs": {}, "injectors": {}},
        ("name", "kind"),
        ("name", "kind"),
    ),
    "credentials": Endpoint(
        "credential",
        {**_NAMED, "organization": None, "credential_type": None, "managed": False, "inputs": {}},
        ("name", "credential_type"),
        ("name", "credential_type", "organization"),
        {**_ORGANIZATION, "credential_type": "credential_types"},
    ),
    "notification_templates": Endpoint(
        "notification_template",
        {
            **_NAMED,
            "organization": None,
            "notification_type": "",
            "notification_configuration": {},
            "messages": None,
        },
        ("name", "organization", "notification_type"),
        ("name", "organization"),
        _ORGANIZATION,
    ),
    "projects": Endpoint(
        "project",
        {
            **_NAMED,
            "organization": None,
            "local_path": "",
            "scm_type": "",
            "scm_url": "",
            "scm_branch": "",
            "scm_refspec": "",
            "scm_clean": False,
            "scm_delete_on_update": False,
            "credential": None,
            "scm_track_submodules": False,
            "scm_update_on_launch": False,
            "scm_update_cache_timeout": 0,
            "allow_override": False,
            "timeout": 0,
            "scm_revision": "",
            "default_environment": None,
        },
        ("name",),
        ("name", "organization"),
        {**_ORGANIZATION, "credential": "credentials", "default_environment": "execution_environments"},
        _NOTIFIES,
    ),
    "inventories": Endpoint(
        "inventory",
        {
            **_NAMED,
            "organization": None,
            "kind": "",
            "host_filter": None,
            "variables": "",
            "prevent_instance_group_fallback": False,
        },
        ("name", "organization"),
        ("name", "organization"),
        _ORGANIZATION,
        {"input_inventories": "inventories"},
    ),
    "inventory_sources": Endpoint(
        "inventory_source",
        {
            **_NAMED,
            "inventory": None,
            "source": None,
            "source_path": "",
            "source_vars": "",
            "scm_branch": "",
            "source_project": None,
            "overwrite": False,
            "overwrite_vars": False,
            "update_on_launch": False,
            "update_cache_timeout": 0,
            "credential": None,
            "timeout": 0,
            "verbosity": 1,
            "limit": "",
        },
        ("name", "inventory", "source"),
        ("name", "inventory"),
        {"inventory": "inventories", "source_project": "projects"},
        _NOTIFIES,
    ),
    "hosts": Endpoint(
        "host",
        {**_NAMED, "inventory": None, "enabled": True, "instance_id": "", "variables": ""},
        ("name", "inventory"),
        ("name", "inventory"),
        {"inventory": "inventories"},
    ),
    "job_templates": Endpoint(
        "job_template",
        {
            **_NAMED,
            "job_type": "run",
            "inventory": None,
            "project": None,
            "playbook": "",
            "scm_branch": "",
            "forks": 0,
            "limit": "",
            "verbosity": 0,
            "extra_vars": "",
            "job_tags": "",
            "skip_tags": "",
            "force_handlers": False,
            "start_at_task": "",
            "timeout": 0,
            "use_fact_cache": False,
            "execution_environment": None,
            "host_config_key": "",
            "survey_enabled": False,
            "become_enabled": False,
            "diff_mode": False,
            "allow_simultaneous": False,
            "job_slice_count": 1,
            "webhook_service": "",
            "prevent_instance_group_fallback": False,
            **_ASKS,
        },
        ("name",),
        ("name", "organization"),
        {
            "inventory": "inventories",
            "project": "projects",
            "execution_environment": "execution_environments",
        },
        {**{name: name for name in ("credentials", "instance_groups", "labels")}, **_NOTIFIES},
    ),
    # AWX makes these two itself; an administrator adds others.
    "instance_groups": Endpoint("instance_group", {"name": ""}),
    "workflow_job_templates": Endpoint(
        "workflow_job_template",
        {
            **_NAMED,
            "extra_vars": "",
            "organization": None,
            "survey_enabled": False,
            "inventory": None,
            "allow_simultaneous": False,
            "limit": None,
            "scm_branch": None,
            "webhook_service": "",
            "job_tags": None,
            "skip_tags": None,
            **_WORKFLOW_ASKS,
        },
        ("name",),
        ("name", "organization"),
        {**_ORGANIZATION, "inventory": "inventories"},
        {"labels": "labels", **_NOTIFIES, "notification_templates_approvals": "notification_templates"},
    ),
    "workflow_job_template_nodes": Endpoint(
        "workflow_job_template_node",
        {
            **_PROMPTED,
            "workflow_job_template": None,
            "unified_job_template": None,
            "identifier": "",
            "all_parents_must_converge": False,
        },
        ("workflow_job_template",),
        ("workflow_job_template", "identifier"),
        {
            "workflow_job_template": "workflow_job_templates",
            "unified_job_template": "unified_job_templates",
            "inventory": "inventories",
        },
        {
            **dict.fromkeys(
                ("success_nodes", "failure_nodes", "always_nodes"), "workflow_job_template_nodes"
            ),
            "credentials": "credentials",
            "labels": "labels",
        },
    ),
    "workflow_approval_templates": Endpoint(
        "workflow_approval_template", {**_NAMED, "timeout": 0}, ("name",), ()
    ),
    "schedules": Endpoint(
        "schedule",
        {**_NAMED, **_PROMPTED, "rrule": "", "unified_job_template": None, "enabled": True},
        ("name", "rrule", "unified_job_template"),
        ("name", "unified_job_template"),
        {"unified_job_template": "unified_job_templates", "inventory": "inventories"},
        {"credentials": "credentials", "labels": "labels"},
    ),
}
# Fields that are whole numbers, and what some of them are at least.
NUMBERS: t.Final = ("forks", "job_slice_count", "max_hosts", "timeout", "verbosity")
LEAST: t.Final = {"forks": 0, "job_slice_count": 0}
# How long a text may be.
LENGTHS: t.Final = {
    "name": 512,
    "identifier": 512,
    "scm_branch": 256,
    **dict.fromkeys(("image", "playbook", "scm_url", "source_path"), 1024),
}
# What a field may be, by collection and field; "" is every collection.
CHOICES: t.Final[dict[tuple[str, str], tuple[t.Any, ...]]] = {
    ("", "job_type"): ("run", "check"),
    ("", "verbosity"): tuple(range(6)),
    ("inventory_sources", "verbosity"): tuple(range(3)),
    ("inventory_sources", "source"): (
        *("scm", "ec2", "gce", "azure_rm", "vmware", "satellite6", "openstack", "rhv", "controller"),
        *("insights", "terraform", "openshift_virtualization"),
    ),
    ("execution_environments", "pull"): ("always", "missing", "never"),
    ("projects", "scm_type"): ("git", "svn", "insights", "archive"),
}
# What AWX can run: their ids are unique together, and unified_job_templates lists them all.
UNIFIED: t.Final = ("projects", "inventory_sources", "job_templates", "workflow_job_templates")
# Types of credentials that every AWX has: their kind and their fields.
MANAGED_TYPES: t.Final[dict[str, list[Data]]] = {
    "OpenShift or Kubernetes API Bearer Token": [
        {"id": "host", "type": "string"},
        {"id": "bearer_token", "type": "string", "secret": True},
        {"id": "verify_ssl", "type": "boolean"},
        {"id": "ssl_ca_cert", "type": "string", "secret": True},
    ],
    "Source Control": [
        {"id": "username", "type": "string"},
        {"id": "password", "type": "string", "secret": True},
    ],
}
MANAGED_KINDS: t.Final = {"OpenShift or Kubernetes API Bearer Token": "kubernetes", "Source Control": "scm"}
