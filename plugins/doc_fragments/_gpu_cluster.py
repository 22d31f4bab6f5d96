# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations

import json

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.options import (
    documented,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra import options as dra_options


class ModuleDocFragment:
    # The options stand in one table. JSON is YAML, so this is valid documentation.
    DOCUMENTATION: str = json.dumps({"options": documented(dra_options.TABLE)})
