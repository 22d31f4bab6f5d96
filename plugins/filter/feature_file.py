# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write or check a file for features.d, and create the objects that bring it to nodes."""

from __future__ import annotations

DOCUMENTATION = r"""
name: feature_file
short_description: Write or check a feature file for nfd-worker, and create the objects that bring it to nodes
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - Writes the text of a file for C(/etc/kubernetes/node-feature-discovery/features.d), which replaces the
    executable hooks of earlier releases.
  - Checks a given text as C(nfd-worker) would read it. C(nfd-worker) itself skips a wrong line and reports it
    only in its log.
options:
  _input:
    description:
      - Feature names with their values, or the text of a file. For the value V(true) the file has only the
        name.
    type: raw
    required: true
  name:
    description: Name of the file, for O(as).
    type: str
  expires:
    description:
      - The end of the features, as RFC 3339 time with a time zone. A program that rewrites the file sets a
        later time. Without this option the features do not expire.
    type: str
  publish:
    description: V(label) makes node labels only, V(feature) only features for rules, V(both) both.
    type: str
    choices: [both, label, feature]
    default: both
  as:
    description:
      - V(text) returns the text of the file. V(machine_config) returns a list with a MachineConfig. It writes
        the file on every node of O(pool), and restarts these nodes.
      - V(daemon_set) returns a ConfigMap and a privileged DaemonSet. The file is on the nodes of
        O(node_selector) while the DaemonSet exists. No node restarts.
    type: str
    choices: [text, machine_config, daemon_set]
    default: text
  pool:
    description: MachineConfigPool for V(machine_config).
    type: str
    default: worker
  namespace:
    description:
      - Namespace for V(daemon_set). Its default service account must be allowed to use the
        SecurityContextConstraints C(privileged).
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
- name: Publish for one month which FPGA shell the cards of a pool have
  accelerators.openshift.manifests:
    objects: "{{ shell | accelerators.openshift.feature_file(expires=end, as='machine_config', **names) }}"
  vars:
    names: {name: fpga, pool: fpga}
    end: "2027-01-31T00:00:00Z"
    shell: {example.com/fpga.shell: xdma-4, example.com/fpga: true}

- name: Check a file that your own program writes
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
from ansible_collections.accelerators.openshift.plugins.plugin_utils._filters import checked

Data = dict[str, t.Any]


@checked("feature_file", "features with their values, or the text of a feature file")
def feature_file(
    features: t.Any, name: str = "", expires: str = "", publish: str = "both", **how: t.Any
) -> str | list[Data]:
    """Return the text of a feature file, or the objects that bring it to nodes.

    features: names with values, or a text to check. expires: RFC 3339 time. how: the options from `as` on.
    Raise AnsibleFilterError for wrong features or options.
    """
    try:
        content = (
            files.render(features, expires, publish)
            if isinstance(features, t.Mapping)
            else _checked(str(features))
        )
        return _in_shape(content, name, **how)
    except InputError as exc:
        raise AnsibleFilterError(f"feature_file: {exc.to_result()['msg']}") from None


def _checked(content: str) -> str:
    files.check(content)
    return content


def _in_shape(content: str, name: str, **how: t.Any) -> str | list[Data]:
    kind = how.pop("as", "text")
    options = {
        "pool": "worker",
        "namespace": "openshift-nfd",
        "node_selector": {},
        "image": "registry.access.redhat.com/ubi9/ubi",
    }
    if unknown := sorted(set(how) - set(options)):
        raise AnsibleFilterError(
            f"feature_file: unknown option {', '.join(unknown)}; "
            f"there are {', '.join(['name', 'expires', 'publish', 'as', *options])}"
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
    """The filter feature_file."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return name -> filter."""
        return {"feature_file": feature_file}
