# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""The terminal of a run: lines that stay, and below them live lines that are rewritten in place.

All that Ansible prints goes through `display` of its one Display, also what a worker shows: Ansible sends
that to the first process. The screen takes its place there: it removes the live lines before each line of
others, and writes them again below it. It never hides the cursor, so a killed run leaves a sane terminal.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import typing as t

from ansible.utils.color import stringc

from ansible_collections.accelerators.openshift.plugins.module_utils._core import redact

# Begins the messages of workers to the screen. No text for people has this character.
_MARK: t.Final = "\x1e"
Line = tuple[str, str]  # text and colour


class Screen:
    """The screen of a run. live: returns the live lines. awaits: what the task of each host waits for."""

    #: The screen of this run, also in its workers; None without a terminal.
    active: t.ClassVar[Screen | None] = None

    def __init__(self, display: t.Any, live: t.Callable[[], list[Line]]) -> None:
        """Take the place of Ansible's Display, and write the live lines again each second."""
        self.awaits: dict[str, list[str]] = {}
        self._display, self._live, self._write = display, live, display.display
        self._pid, self._drawn, self._sent, self._closed = os.getpid(), 0, list[str](), threading.Event()
        Screen.active, display.display = self, self.display
        threading.Thread(target=self._tick, daemon=True).start()

    def close(self) -> None:
        """Remove the live lines for good; later lines go through as they are."""
        with self._display._lock, contextlib.suppress(OSError, ValueError):
            Screen.active = None
            self._closed.set()
            self._put("")

    def send(self, host: str, lines: list[str], stays: bool) -> None:
        """Send a line of progress from a worker, or all that its task waits for, if that has changed."""
        if stays or lines != self._sent:
            self._sent = self._sent if stays else lines
            self._display.display(_MARK + json.dumps([host, [redact.line(line) for line in lines], stays]))

    def display(self, msg: str, *args: t.Any, **kwargs: t.Any) -> None:
        """Show a line of others above the live lines, or hear a message of a worker."""
        if os.getpid() != self._pid:
            self._write(msg, *args, **kwargs)
            return
        with self._display._lock:
            if msg.startswith(_MARK):
                self._hear(*json.loads(msg[1:]))
            else:
                self._put("")
                self._write(msg, *args, **kwargs)
            self.redraw()

    def redraw(self) -> None:
        """Write the live lines as they are now. Without a terminal any more, the run goes on without them."""
        with self._display._lock:
            try:
                self._put("" if self._closed.is_set() else self._drawing())
            except Exception:
                self.close()

    def _drawing(self) -> str:
        """Return the live lines, no wider and no higher than the terminal is now."""
        size = os.get_terminal_size(sys.stdout.fileno())
        width, most = (size.columns or 80) - 1, max(1, (size.lines or 24) - 2)
        lines = self._live()
        if len(lines) > most:
            lines = [*lines[: most - 1], (f"... and {len(lines) - most + 1} lines more", "cyan")]
        fit = ((text if len(text) <= width else f"{text[: width - 1]}…", color) for text, color in lines)
        return "".join(f"{stringc(text, color)}\n" for text, color in fit)

    def _hear(self, host: str, lines: list[str], stays: bool) -> None:
        """Store the lines. A line of progress is also in Ansible's log, and with -v on the screen."""
        if stays:
            self._put("")
            self._write(lines[0], log_only=not self._closed.is_set() and not self._display.verbosity)
        if not lines[0].startswith(" "):  # else a line of a wait, whose lines are all awaited
            self.awaits[host] = lines

    def _tick(self) -> None:
        while not self._closed.wait(1.0):
            self.redraw()

    def _put(self, text: str) -> None:
        """Write these lines in the place of the last live lines. The terminal does not wrap them."""
        up = f"\r\x1b[{self._drawn}A\x1b[J" if self._drawn else ""
        self._drawn = text.count("\n")
        sys.stdout.write(f"{up}\x1b[?7l{text}\x1b[?7h" if text else up)
        sys.stdout.flush()
