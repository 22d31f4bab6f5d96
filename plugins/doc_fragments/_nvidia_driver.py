# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations

import json

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver.options import (
    OPTIONS,
)
from ansible_collections.accelerators.openshift.plugins.plugin_utils._option_texts import (
    NVIDIA_DRIVERS,
    documented,
)


class ModuleDocFragment:
    # The options stand in a table, their texts in another. JSON is YAML, so it is valid documentation. The
    # annotation keeps linters from parsing the expression as a literal text.
    DOCUMENTATION: str = json.dumps({"options": documented(OPTIONS, NVIDIA_DRIVERS)})
