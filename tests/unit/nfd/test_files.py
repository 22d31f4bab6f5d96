"""Files for features.d: written as nfd-worker reads them, wrong lines refused instead of skipped."""

from __future__ import annotations

import base64

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import files


def test_the_text() -> None:
    assert files.render(
        {"fpga": True, "example.com/shell": "xdma", "count": 4}, "2027-01-31T00:00:00+00:00"
    ) == ("# +expiry-time=2027-01-31T00:00:00Z\ncount=4\nexample.com/shell=xdma\nfpga\n")


@pytest.mark.parametrize(("publish", "line"), [("feature", "# +no-label"), ("label", "# +no-feature")])
def test_a_directive_holds_for_one_line_and_so_stands_before_each(publish: str, line: str) -> None:
    assert files.render({"a": 1, "b": 2}, publish=publish).splitlines() == [line, "a=1", line, "b=2"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("# +expires=2027", "Line 1: directive 'expires' is unknown"),
        ("# +expiry-time=tomorrow", "is no RFC 3339 time"),
        ("# +expiry-time=2027-01-01T00:00:00", "has no time zone"),
        ("ok\na = b", "Line 2: 'a ' is no legal name"),
        ("a=b/c", "Line 1: the value 'b/c'"),
        ("#" * 70000, "70000 bytes"),
    ],
)
def test_what_nfd_worker_would_skip(content: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        files.check(content)
    assert (caught.value.code, words in caught.value.message) == ("NFD-FILE", True)


def test_comments_and_empty_lines_are_fine() -> None:
    files.check("# by the vendor\n\n  a=b  \n# +no-label\nc\n")


def test_a_machine_config() -> None:
    made = files.machine_config("fpga_shell", "a=b\n", "fpga")
    assert made["metadata"] == {
        "name": "99-fpga-features-fpga-shell",
        "labels": {"machineconfiguration.openshift.io/role": "fpga"},
    }
    (file,) = made["spec"]["config"]["storage"]["files"]
    assert file["path"] == "/etc/kubernetes/node-feature-discovery/features.d/fpga_shell"
    assert base64.b64decode(file["contents"]["source"].rpartition(",")[2]) == b"a=b\n"


def test_a_daemon_set_writes_and_renames() -> None:
    config_map, daemon_set = files.daemon_set("fpga", "a=b\n", "ns", {"fpga": "true"}, "image")
    assert config_map["data"] == {"fpga": "a=b\n"}
    spec = daemon_set["spec"]["template"]["spec"]
    assert spec["nodeSelector"] == {"fpga": "true"}
    assert "mv /features.d/.fpga /features.d/fpga" in spec["containers"][0]["command"][2]


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "a b"])
def test_names_that_are_not_read(name: str) -> None:
    with pytest.raises(InputError):
        files.machine_config(name, "a\n", "worker")
