# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a filter says about wrong input, in place of Python's own message."""

from __future__ import annotations

import functools
import inspect
import typing as t

from ansible.errors import AnsibleFilterError

Function = t.TypeVar("Function", bound=t.Callable[..., t.Any])


def checked(name: str, reads: str) -> t.Callable[[Function], Function]:
    """Return a decorator: the function of a filter raises AnsibleFilterError for input that it cannot read.

    reads: what the input has to be.
    """

    def decorator(function: Function) -> Function:
        return t.cast(Function, _checked(name, reads, function))

    return decorator


def _checked(name: str, reads: str, function: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
    @functools.wraps(function)
    def filter_function(*given: t.Any, **options: t.Any) -> t.Any:
        try:
            inspect.signature(function).bind(*given, **options)
        except TypeError as exc:
            raise AnsibleFilterError(f"{name}: {exc}. It reads {reads}.") from None
        try:
            return function(*given, **options)
        except KeyError as exc:
            raise AnsibleFilterError(f"{name}: the input has no {exc.args[0]}. It reads {reads}.") from None
        except (AttributeError, IndexError, TypeError, ValueError):
            kinds = ", ".join(_kind(option) for option in (*given, *options.values()))
            raise AnsibleFilterError(f"{name}: cannot read its input ({kinds}). It reads {reads}.") from None

    return filter_function


def _kind(value: t.Any) -> str:
    """Return in words what a value is."""
    if value is None:
        return "nothing"
    if isinstance(value, t.Mapping):
        return f"a mapping with {', '.join(map(str, list(value)[:5])) or 'no key'}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return "text" if isinstance(value, str) else "true or false" if isinstance(value, bool) else "a number"
