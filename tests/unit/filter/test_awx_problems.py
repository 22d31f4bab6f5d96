"""The filter returns one text with the code, or none."""

from __future__ import annotations

from unit.awx.content import broken, right

from ansible_collections.accelerators.openshift.plugins.filter.awx_problems import FilterModule


def test_the_filter() -> None:
    awx_problems = FilterModule().filters()["awx_problems"]
    assert awx_problems(right()) == ""
    found = awx_problems(broken("controller_hosts", 0, "inventory", value="x"))
    assert found.startswith("INPUT-AWX: controller_hosts[0].inventory: ")
    assert awx_problems(right(), ["gpu_awx_data", "gpu_awx_token", "gpu_pools"]) == ""
    found = awx_problems(right(), ["gpu_awx_dta"])
    assert found == (
        "INPUT-VARIABLE: Nothing reads gpu_awx_dta (did you mean gpu_awx_data?). Nothing was sent to AWX."
    )
