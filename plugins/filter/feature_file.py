# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file for features.d, and how it gets onto nodes."""

from __future__ import annotations

DOCUMENTATION = r"""
name: feature_file
short_description: A feature file for nfd-worker, checked, and the objects that bring it to nodes
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Makes the text of a file for C(/etc/kubernetes/node-feature-discovery/features.d), the successor of the executable hooks of earlier releases.
  - Text that is given is checked as C(nfd-worker) would read it, which skips a wrong line with nothing but a word in its log.
options:
  _input:
    description: Feature names with their values, or the text of a file. A value of V(true) is written as the name alone.
    type: raw
    required: true
  name:
    description: Name of the file, for O(as).
    type: str
  expires:
    description: When the features end, as RFC 3339 time with a time zone. A program that writes the file anew moves it on; without, they stay.
    type: str
  publish:
    description: V(label) makes node labels only, V(feature) only features for rules, V(both) both.
    type: str
    choices: [both, label, feature]
    default: both
  as:
    description:
      - V(text) returns the file. V(machine_config) returns a list with the MachineConfig that writes it on every node of O(pool), which restarts them.
      - V(daemon_set) returns a ConfigMap and a privileged DaemonSet, which keep the file on the nodes of O(node_selector) while they run. No restart.
    type: str
    choices: [text, machine_config, daemon_set]
    default: text
  pool:
    description: MachineConfigPool for V(machine_config).
    type: str
    default: worker
  namespace:
    description: Namespace for V(daemon_set). Its default service account has to be allowed the SecurityContextConstraints C(privileged).
    type: str
    default: openshift-nfd
  node_selector:
    description: Nodes for V(daemon_set).
    type: dict
    default: {}
  image:
    description: Image with a shell for V(daemon_set).
    type: str
    default: registry.access.redhat.com/ubi9/ubi
"""

EXAMPLES = r"""
- name: Say of a pool which FPGA shell its cards hold, for one month
  accelerators.openshift.manifests:
    objects: "{{ shell | accelerators.openshift.feature_file(name='fpga', expires='2027-01-31T00:00:00Z', as='machine_config', pool='fpga') }}"
  vars:
    shell: {example.com/fpga.shell: xdma-4, example.com/fpga: true}

- name: Check a file that a program of one's own writes
  ansible.builtin.debug:
    msg: "{{ lookup('file', 'features.txt') | accelerators.openshift.feature_file }}"
"""

RETURN = r"""
_value:
  description: The text, or a list of objects.
  type: raw
  sample: |
    # +expiry-time=2027-01-31T00:00:00Z
    example.com/fpga
    example.com/fpga.shell=xdma-4
"""

import typing as t

from ansible.errors import AnsibleFilterError

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import files

Data = dict[str, t.Any]


def feature_file(
    features: t.Any, name: str = "", expires: str = "", publish: str = "both", **how: t.Any
) -> str | list[Data]:
    try:
        content = (
            files.render(features, expires, publish)
            if isinstance(features, t.Mapping)
            else _checked(str(features))
        )
        return _brought(content, name, **how)
    except InputError as exc:
        raise AnsibleFilterError(f"feature_file: {exc.to_result()['msg']}") from exc


def _checked(content: str) -> str:
    files.check(content)
    return content


def _brought(content: str, name: str, **how: t.Any) -> str | list[Data]:
    kind = how.pop("as", "text")
    options = {
        "pool": "worker",
        "namespace": "openshift-nfd",
        "node_selector": {},
        "image": "registry.access.redhat.com/ubi9/ubi",
    }
    if unknown := sorted(set(how) - set(options)):
        raise AnsibleFilterError(
            f"feature_file: unknown option {', '.join(unknown)}; there are {', '.join(['name', 'expires', 'publish', 'as', *options])}"
        )
    options |= how
    if kind == "text":
        return content
    if kind == "machine_config":
        return [files.machine_config(name, content, str(options["pool"]))]
    if kind == "daemon_set":
        return files.daemon_set(
            name,
            content,
            str(options["namespace"]),
            t.cast("dict[str, str]", options["node_selector"]),
            str(options["image"]),
        )
    raise AnsibleFilterError(f"feature_file: as is {kind!r}; allowed are text, machine_config, daemon_set")


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"feature_file": feature_file}
