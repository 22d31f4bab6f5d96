# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each variable that a remedy names reaches the module's option, rendered by Ansible from the roles' tasks.

test_remedies.py holds that a user may set the variable.
"""

from __future__ import annotations

import functools
import re
import typing as t

from unit.rules.role_tasks import passed, reached
from unit.rules.test_remedies import names, ours, role_options

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import CODES
from ansible_collections.accelerators.openshift.plugins.plugin_utils._inputs import OF_ACTION

# A value that differs from the default, for variables whose remedy says none.
VALUES: t.Final = {
    "gpu_instance_types_catalogue": "[{name: x}]",
    "gpu_machine_uid": "3bdd9b2e",
    "gpu_node": "node-1",
    "gpu_on_busy": "drain",
    "gpu_pools": "[{name: p, replicas: 2}]",
    "gpu_tolerations": "[{key: team, operator: Exists}]",
    "gpu_backend": "dra",
    "gpu_lock_timeout": "600",
    "gpu_policy_admission": "deny",
    "gpu_policy_spare_namespace": "spare",
    "gpu_policy_namespaces": "[team-a]",
    "gpu_policy_create_namespaces": "true",
    "gpu_node_pool_max_surge": "3",
    "gpu_node_pool_source_machine_set": "[worker-b]",
    "gpu_operator_driver_change": "pin",
    "gpu_update_driver_images": "[a]",
    "gpu_upgrade_driver_change": "pin",
    "gpu_upgrade_operators": "[{name: gpu}]",
    "node_feature_discovery_pci_classes": '["03"]',
    "node_feature_discovery_worker_tolerations": "[{operator: Exists}]",
}
LISTS: t.Final = ("_allow_csvs",)
# The module that fails with the codes of an area. Others are of no module, or of several.
MODULES: t.Final = {
    "GPU": "special_resource",
    "MACH": "gpu_machineset",
    "NFD": "nfd_labels",
    "NIC": "special_resource",
    "NODE": "gpu_machineset",
    "OLM": "olm_operator",
    "POLICY": "gpu_admission",
    "QUOTA": "gpu_quota",
    "WORK": "gpu_workload",
}


def value_of(variable: str, remedy: str) -> str:
    """Return the value that the remedy says, or one of ours."""
    said = re.search(rf"`{variable}: ([^`]+)`", remedy)
    if said and said[1] not in ("[NAME]",):
        return said[1]
    numbers = variable.endswith("_timeout")
    return VALUES.get(variable, "4711" if numbers else "[x]" if variable.endswith(LISTS) else "x-of-a-test")


def variables(remedy: str) -> list[str]:
    of_plugin = ("gpu_machineset", "gpu_render_dir", *OF_ACTION)
    return sorted(name for name in names(remedy) if ours(name) and name not in of_plugin)


WITH_VARIABLES: t.Final = [code for code in CODES if variables(CODES[code].remedy)]


def test_the_variable_of_a_remedy_reaches_a_module() -> None:
    offenders = []
    for code in WITH_VARIABLES:
        remedy = CODES[code].remedy
        found = {name: reached(name, value_of(name, remedy)) for name in variables(remedy)}
        options = {option for pairs in found.values() for _module, option in pairs}
        said = set(re.findall(r"\(module option `(\w+)`\)", remedy))
        if not all(found.values()) or said - options:
            offenders.append((code, found))
    assert offenders == []


@functools.cache
def settable(module: str, option: str) -> set[str]:
    """Return the variables of roles that are passed to the module's option as they are."""
    templates = [str(one.template) for one in passed() if (one.module, one.option) == (module, option)]
    first = [found[1] for text in templates if (found := re.match(r"\{\{ (\w+)", text))]
    return set(first) & role_options()


def bare_options(code: str) -> t.Iterator[str]:
    """Yield the options of the remedy that roles pass, and that it names without a variable of theirs."""
    remedy, module = CODES[code].remedy, MODULES.get(code.partition("-")[0])
    reach = {pair for name in variables(remedy) for pair in reached(name, value_of(name, remedy))}
    for option in names(remedy) if module else ():
        found = settable(module, option)
        if found and not found & names(remedy) and (module, option) not in reach:
            yield option


def test_a_remedy_with_an_option_that_a_role_passes_names_the_variable() -> None:
    assert {code: found for code in CODES if (found := list(bare_options(code)))} == {}
