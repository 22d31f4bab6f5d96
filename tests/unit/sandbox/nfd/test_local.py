"""How nfd-worker reads feature files."""

from __future__ import annotations

import pytest

from openshift_sandbox.stand_ins.nfd.local import parse


@pytest.mark.parametrize(
    ("content", "labels", "features"),
    [
        ("# a comment\na=1\nb\n", {"a": "1", "b": "true"}, {"a": "1", "b": "true"}),
        ("# +no-label\na=1\nb=2\n", {"b": "2"}, {"a": "1", "b": "2"}),
        ("# +no-feature\na=1\n", {"a": "1"}, {}),
        (
            "# +expiry-time=2020-01-01T00:00:00Z\na=1\n# +expiry-time=2099-01-01T00:00:00Z\nb=2\n",
            {"b": "2"},
            {"b": "2"},
        ),
    ],
)
def test_feature_files_are_read_as_the_worker_does(
    content: str, labels: dict[str, str], features: dict[str, str]
) -> None:
    assert parse(content) == (labels, features)
