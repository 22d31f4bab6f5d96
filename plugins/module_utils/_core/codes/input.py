# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of options."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "INPUT-AWX",
        "A data file for AWX has an unknown or missing key, names something that no list has, has a value "
        "that AWX would refuse, has a schedule that never runs, or holds a secret. Nothing was sent.",
        "Correct the entries that the message names. `ansible-playbook playbooks/awx_setup.yml --check` "
        "checks the files and sends nothing.",
    ),
    Code(
        "INPUT-CATALOGUE",
        "The file with your own instance types does not exist, or it is not readable YAML or JSON.",
        "Set `gpu_instance_types_catalogue` to the path of a YAML or JSON file that holds a list.",
    ),
    Code(
        "INPUT-CRYPTOGRAPHY",
        "`approve_csrs` is set, and the Python package cryptography is missing.",
        "Run `pip install cryptography` for the interpreter that runs the module.",
    ),
    Code(
        "INPUT-DRIVER-IMAGE",
        "Some of the driver's version, repository and image are set and others are not, or no registry can "
        "have one of them (a scheme, a tag inside the image, a leading v). Or the NVIDIA Network Operator "
        "does not say where the image of a component is.",
        "Set `driver.version`, `driver.repository` and `driver.image` together, or none of them; in "
        "`nic_cluster_policy` set those that the message names.",
    ),
    Code(
        "INPUT-GPU-MODEL",
        "No instance type of the catalogue has GPUs of the given name.",
        "Use a model that the message offers; `ansible-doc -t lookup "
        "accelerators.openshift.gpu_instance_types` shows how to list them.",
    ),
    Code(
        "INPUT-IMAGE",
        "Some of an operand's version, repository and image are set, and others are not, or no registry can "
        "have one of them, or the image of a pod.",
        "Set `version`, `repository` and `image` of the operand together, or none of them. Write the image "
        "of a pod as HOST[:PORT]/PATH:TAG, without a scheme.",
    ),
    Code(
        "INPUT-JMESPATH",
        "An option is not a valid JMESPath expression, or the Python package jmespath is missing. The "
        "message names the option.",
        "Correct the expression, or run `pip install jmespath` for the interpreter that runs the module.",
    ),
    Code(
        "INPUT-MANIFEST",
        "An object in `objects` is incomplete, is not YAML, is listed twice, or was copied out of a "
        "cluster. The message names its path.",
        "Correct the entry of `objects` that the message names.",
    ),
    Code(
        "INPUT-NAMESPACE",
        "An object of a namespaced kind has no namespace.",
        "Set `metadata.namespace` in the object.",
    ),
    Code(
        "INPUT-OPTION",
        "An option is unknown or missing, has the wrong type, or cannot be combined with another option.",
        "Correct the option that the message names; `ansible-doc accelerators.openshift.MODULE` lists the "
        "options of a module.",
    ),
    Code(
        "INPUT-REQUIRED",
        "A key of a nested option is missing, or a variable without which a playbook has nothing to do. The "
        "message names it.",
        "Set what the message names; `ansible-doc accelerators.openshift.MODULE` describes options, "
        "docs/guide.md the variables of playbooks.",
    ),
    Code(
        "INPUT-TYPE",
        "A value in a nested option has the wrong type. The message names its path.",
        "Write the value as the message shows; `ansible-doc accelerators.openshift.MODULE` has examples.",
    ),
    Code(
        "INPUT-VALUE",
        "A value is not one of the allowed ones. The message names its path.",
        "Use an allowed value; `ansible-doc accelerators.openshift.MODULE` lists them.",
    ),
    Code(
        "INPUT-VARIABLE",
        "A variable of a role or playbook has a wrong type or value, or an extra variable or a tag that "
        "nothing reads has nearly the name of one that is read. Nothing was asked or changed.",
        "Correct the variable or the tag that the message names; `ansible-doc -t role "
        "accelerators.openshift.ROLE` lists the variables of a role, docs/guide.md those of the playbooks.",
    ),
    Code(
        "INPUT-WISH",
        "The lookup `gpu_instance_types` cannot parse the text that describes the GPUs.",
        "Write a number, a model and the memory of one GPU, such as 8x H100 80GB; `ansible-doc -t lookup "
        "accelerators.openshift.gpu_instance_types` has examples.",
    ),
)
