"""JSON documents between the other lines of a log."""

from __future__ import annotations

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import documents


def test_documents_with_a_key_are_found_between_other_lines() -> None:
    log = 'banner {\n{"wanted": 1}\nmore\n{\n\t"other" : 2\n}\n{"wanted": {"deep": [3]}}'
    assert documents.find(log, "wanted") == [{"wanted": 1}, {"wanted": {"deep": [3]}}]
    assert documents.find(log, "wanted", "other")[1] == {"other": 2}


def test_a_document_that_is_cut_or_indented_is_none() -> None:
    assert documents.find('{"wanted": [1, 2', "wanted") == []
    assert documents.find('  {"wanted": 1}', "wanted") == []
    assert documents.find('{broken\n{"wanted": 1}', "wanted") == [{"wanted": 1}]
    assert documents.find('{"a":' * 100_000, "a") == []


def test_only_what_fits_is_read() -> None:
    assert documents.mappings([{"a": 1}, 2, None]) == [{"a": 1}]
    assert documents.mappings("text") == documents.mappings(None) == []
    assert documents.texts([" two\n lines ", "", 3]) == ["two lines"]
    assert documents.texts("one") == ["one"]
    assert len(documents.texts("x" * 5000)[0]) == 1000
