# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds of objects of AWX that awx_setup.yml makes: keys of an entry, and what the keys refer to."""

from __future__ import annotations

import typing as t


class Kind(t.NamedTuple):
    """A list of the data files, such as controller_templates.

    module: the module of awx.awx that makes an entry. required, optional: keys of an entry, which are options
    of that module. refers: keys that name entries of another list. nodes: the key with the nodes of a
    workflow.
    """

    module: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    refers: t.Mapping[str, str] = {}
    nodes: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """Return every key that an entry may have."""
        return (*self.required, *self.optional, *([self.nodes] if self.nodes else []))


ORGANIZATION: t.Final = {"organization": "controller_organizations"}
_NOTIFIES: t.Final = (
    "notification_templates_started",
    "notification_templates_success",
    "notification_templates_error",
)
_NOTIFICATIONS: t.Final = dict.fromkeys(_NOTIFIES, "controller_notifications")
_APPROVALS: t.Final = "notification_templates_approvals"
_ASKS: t.Final = (
    "ask_credential_on_launch",
    "ask_diff_mode_on_launch",
    "ask_forks_on_launch",
    "ask_instance_groups_on_launch",
    "ask_inventory_on_launch",
    "ask_job_slice_count_on_launch",
    "ask_job_type_on_launch",
    "ask_limit_on_launch",
    "ask_tags_on_launch",
    "ask_variables_on_launch",
    "ask_verbosity_on_launch",
)
# In the order in which the playbook makes them: an entry refers only to lists above its own, or to its own.
KINDS: t.Final[dict[str, Kind]] = {
    "controller_organizations": Kind("organization", ("name",), ("description",)),
    "controller_labels": Kind("label", ("name", "organization"), (), ORGANIZATION),
    "controller_execution_environments": Kind(
        "execution_environment", ("name", "image"), ("description", "organization", "pull"), ORGANIZATION
    ),
    "controller_credential_types": Kind(
        "credential_type", ("name", "kind", "inputs", "injectors"), ("description",)
    ),
    "controller_credentials": Kind(
        "credential",
        ("name", "organization", "credential_type"),
        ("description", "inputs"),
        {**ORGANIZATION, "credential_type": "controller_credential_types"},
    ),
    "controller_notifications": Kind(
        "notification_template",
        ("name", "organization", "notification_type", "notification_configuration"),
        ("description", "messages"),
        ORGANIZATION,
    ),
    "controller_projects": Kind(
        "project",
        ("name", "organization", "scm_type", "scm_url"),
        ("description", "scm_branch", "scm_clean", "scm_update_on_launch", "credential", "allow_override"),
        {**ORGANIZATION, "credential": "controller_credentials"},
    ),
    "controller_inventories": Kind(
        "inventory", ("name", "organization"), ("description", "variables"), ORGANIZATION
    ),
    "controller_inventory_sources": Kind(
        "inventory_source",
        ("name", "inventory", "organization", "source"),
        ("description", "source_project", "source_path", "overwrite", "overwrite_vars", "update_on_launch"),
        {
            **ORGANIZATION,
            "inventory": "controller_inventories",
            "source_project": "controller_projects",
        },
    ),
    "controller_hosts": Kind(
        "host",
        ("name", "inventory"),
        ("description", "enabled", "variables"),
        {"inventory": "controller_inventories"},
    ),
    "controller_templates": Kind(
        "job_template",
        ("name", "organization", "project", "inventory", "playbook"),
        (
            "description",
            "job_type",
            "execution_environment",
            "credentials",
            "labels",
            "extra_vars",
            "limit",
            "forks",
            "timeout",
            "verbosity",
            "diff_mode",
            "allow_simultaneous",
            "instance_groups",
            "job_slice_count",
            "survey_enabled",
            "survey_spec",
            *_ASKS,
            *_NOTIFIES,
        ),
        {
            **ORGANIZATION,
            **_NOTIFICATIONS,
            "project": "controller_projects",
            "inventory": "controller_inventories",
            "execution_environment": "controller_execution_environments",
            "credentials": "controller_credentials",
            "labels": "controller_labels",
        },
    ),
    "controller_workflows": Kind(
        "workflow_job_template",
        ("name", "organization"),
        (
            "description",
            "inventory",
            "limit",
            "labels",
            "extra_vars",
            "allow_simultaneous",
            "survey_enabled",
            "survey_spec",
            "ask_inventory_on_launch",
            "ask_limit_on_launch",
            "ask_variables_on_launch",
            *_NOTIFIES,
            _APPROVALS,
        ),
        {
            **ORGANIZATION,
            **_NOTIFICATIONS,
            _APPROVALS: "controller_notifications",
            "inventory": "controller_inventories",
            "labels": "controller_labels",
        },
        nodes="simplified_workflow_nodes",
    ),
    "controller_schedules": Kind(
        "schedule",
        ("name", "unified_job_template", "rrule"),
        ("description", "enabled", "credentials", "extra_data", "inventory", "limit", "organization"),
        {
            **ORGANIZATION,
            "credentials": "controller_credentials",
            "inventory": "controller_inventories",
        },
    ),
}
LINKS: t.Final = ("success_nodes", "failure_nodes", "always_nodes")
NODE: t.Final = Kind(
    "workflow_job_template_node",
    ("identifier",),
    (
        "unified_job_template",
        "approval_node",
        "all_parents_must_converge",
        "credentials",
        "extra_data",
        "inventory",
        "limit",
        *LINKS,
    ),
    {"credentials": "controller_credentials", "inventory": "controller_inventories"},
)


def _fields(texts: str, *switches: str) -> list[dict[str, str]]:
    """Return the fields of a type of credentials that every AWX has."""
    return [{"id": key} for key in texts.split()] + [{"id": switch, "type": "boolean"} for switch in switches]


# The types of credentials that every AWX has, and what the collection needs to know of each: its fields, and
# whether a template can have such a credential.
TYPES: t.Final[dict[str, tuple[list[dict[str, str]], bool]]] = {
    "Ansible Galaxy/Automation Hub API Token": (_fields("url auth_url token"), False),
    "Container Registry": (_fields("host username password", "verify_ssl"), False),
    "HashiCorp Vault Secret Lookup": (
        _fields(
            "url token cacert role_id secret_id client_cert_public client_cert_private client_cert_role "
            "namespace kubernetes_role username password default_auth_path api_version"
        ),
        False,
    ),
    "Machine": (
        _fields(
            "username password ssh_key_data ssh_public_key_data ssh_key_unlock become_method "
            "become_username become_password"
        ),
        True,
    ),
    "OpenShift or Kubernetes API Bearer Token": (
        _fields("host bearer_token ssl_ca_cert", "verify_ssl"),
        True,
    ),
    "Source Control": (_fields("username password ssh_key_data ssh_key_unlock"), False),
    "Vault": (_fields("vault_password vault_id"), True),
}
# What every AWX has, so that no data file lists it.
EVERYWHERE: t.Final[dict[str, frozenset[str]]] = {
    "controller_organizations": frozenset({"Default"}),
    "controller_credential_types": frozenset(TYPES),
}
