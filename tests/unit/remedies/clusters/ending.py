"""Pods that end while a task waits for them."""

from __future__ import annotations

import typing as t

from unit.fake_server import Answer, FakeServer

TEAM: t.Final = "team"


def while_waited_for(server: FakeServer) -> None:
    """Let the pods of the team end once a task waits for the pods of a node: only waits select these."""
    inner = server.request

    def request(method: str, url: str, **more: t.Any) -> Answer:
        if "/pods?" in url and "spec.nodeName" in url:
            for key in [key for key in server.objects if key[1:3] == ("pods", TEAM)]:
                del server.objects[key]
        answer: Answer = inner(method, url, **more)
        return answer

    server.request = request
