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
    description:
      - Can run in C(check_mode) and return the predicted result without changing anything.
      - The prediction is the API server's own dry run.
    support: full
    details:
      - In check mode the result also has C(foreseen), a list of objects. Each has C(object), C(fields) (the
        paths that would differ) and C(action). The action is C(create), C(change), C(delete), or C(keep) for
        an object that needs no change. An object that the API server could not check, because its kind or
        namespace does not exist yet, has C(unchecked), the reason.
  diff_mode:
    description: In diff mode, returns what has changed, or in C(check_mode) what would change.
    support: full
  idempotent:
    description: A second run with the same arguments changes nothing and sends no write.
    support: full
  action_group:
    description:
      - Use C(group/accelerators.openshift.gpu) in C(module_defaults) to set the same options for all modules
        of the collection.
    support: full
    membership:
      - accelerators.openshift.gpu
"""
