# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this doc fragment is for the collection's own plugins and can change without notice.

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and return the predicted result without changing anything; the prediction is the API server's own dry run.
    support: full
    details:
      - In check mode the result has C(foreseen) as well, a list of objects, each with C(object), C(fields) (the paths that would differ) and C(action),
        which is C(create), C(change), C(delete), or C(keep) for what is as wanted already.
  diff_mode:
    description: Returns details on what has changed (or possibly needs changing in C(check_mode)), when in diff mode.
    support: full
  idempotent:
    description: When run twice in a row with the same arguments, the second run changes nothing and sends no write.
    support: full
  action_group:
    description: Use C(group/accelerators.openshift.gpu) in C(module_defaults) to set the same options for all modules of the collection.
    support: full
    membership:
      - accelerators.openshift.gpu
"""
