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
        "INPUT-BACKEND",
        "{option} belongs to backend {backends}, and {setting} is {value}.",
        "Remove `{option}`, or set `{setting}` to {backends}.",
    ),
    Code(
        "INPUT-CATALOGUE",
        "The file {file} with instance types {problem}.",
        "Set `gpu_instance_types_catalogue` to the path of a file in YAML or JSON that holds a list.",
    ),
    Code(
        "INPUT-EXCLUSIVE",
        "{option} and {other} exclude each other{also}.",
        "Remove `{option}` or `{other}`.",
    ),
    Code(
        "INPUT-PACKAGE",
        "{what} needs the Python package {package}.",
        "Run `pip install {package}` for the interpreter that runs the module.",
    ),
    Code(
        "INPUT-GPU-MODEL",
        "{option}: no instance type of the catalogue has GPUs called {name}.",
        "{also}Run `ansible-doc -t lookup accelerators.openshift.gpu_instance_types`, which shows how to "
        "list the models.",
    ),
    Code(
        "INPUT-IMAGE",
        "Some of the version, repository and image of a driver or an operand are set, and others are not, "
        "or no registry can have one of them (a scheme, a tag inside the image, a leading v), or the "
        "image of a pod.",
        "Set `version`, `repository` and `image` together, or none of them; for a component of "
        "`nic_cluster_policy` set those that the message names. Write the image of a pod as "
        "HOST[:PORT]/PATH:TAG, without a scheme.",
    ),
    Code(
        "INPUT-JMESPATH",
        "{option}: {wrong_expression}.",
        "Correct the expression (`oc explain KIND` shows the fields); see "
        "https://jmespath.org/tutorial.html.",
    ),
    Code(
        "INPUT-MANIFEST",
        "An object in `objects` is incomplete, is not YAML, is listed twice, or was copied out of a "
        "cluster. The message names its path.",
        "Correct the entry of `objects` that the message names.",
    ),
    Code(
        "INPUT-NAMESPACE",
        "{object} has no metadata.namespace, and {resource} are namespaced.",
        "Set `metadata.namespace`.",
    ),
    Code(
        "INPUT-OPTION",
        "An option is unknown or missing, has the wrong type, or cannot be combined with another option.",
        "Correct the option that the message names; `ansible-doc accelerators.openshift.MODULE` lists the "
        "options of a module.",
    ),
    Code(
        "INPUT-RENDER",
        "No manifest can be written where gpu_render_dir says ({value}): {why}. The cluster was not changed.",
        "Set `gpu_render_dir` to a new folder, or to that of an earlier render, which the user who runs "
        "Ansible can write.",
    ),
    Code(
        "INPUT-REPORT",
        "No report can be written where gpu_report_dir says ({value}): {why}. Nothing was changed.",
        "Set `gpu_report_dir` to a folder that the user who runs Ansible can write, or leave it out.",
    ),
    Code(
        "INPUT-REQUIRED",
        "{option} is missing{also}.",
        "Set `{option}`, such as {example}.",
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
        "A variable of a role or playbook is missing or has a wrong type or value, an extra variable or a "
        "tag that nothing reads has nearly the name of one that is read, or no task would run with these "
        "tags. Nothing was asked or changed.",
        "Correct the variable or the tag that the message names; `ansible-doc -t role "
        "accelerators.openshift.ROLE` lists the variables of a role, docs/guide.md those of the playbooks.",
    ),
    Code(
        "INPUT-VERSIONS",
        "The file {file} with facts about versions {problem}.",
        "Give the lookup the path of a file in YAML or JSON that holds a mapping; `ansible-doc -t lookup "
        "accelerators.openshift.gpu_versions` lists its keys.",
    ),
    Code(
        "INPUT-WISH",
        "The wish {wish} cannot be read.",
        "Write a number, a model and the memory of one GPU, or some of them: 8x H100 80GB (`ansible-doc "
        "-t lookup accelerators.openshift.gpu_instance_types`).",
    ),
)
