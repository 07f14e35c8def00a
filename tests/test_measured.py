"""What several processes have run is counted once, and per folder."""

import json

import pytest

from tests.measured import share, together

META = {"software": "slipcover", "branch_coverage": True, "show_contexts": False}


def file(*, lines: list[int], missing: list[int], branches=(), missing_branches=()) -> dict:
    return {
        "executed_lines": lines,
        "missing_lines": missing,
        "executed_branches": list(branches),
        "missing_branches": list(missing_branches),
        "summary": {
            "covered_lines": len(lines),
            "missing_lines": len(missing),
            "covered_branches": len(branches),
            "missing_branches": len(missing_branches),
            "percent_covered": 0.0,
        },
    }


def process(**files: dict) -> str:
    summary = {"covered_lines": 0, "missing_lines": 0, "percent_covered": 0.0}
    named = {name.replace("_", "/") + ".py": one for name, one in files.items()}
    return json.dumps({"meta": META, "files": named, "summary": summary})


def test_what_one_process_has_run_is_not_missing(tmp_path):
    one = file(lines=[1], missing=[2, 3], missing_branches=[[1, 2], [1, 3]])
    other = file(lines=[1, 3], missing=[2], branches=[[1, 3]], missing_branches=[[1, 2]])
    half = file(lines=[1], missing=[2])
    (tmp_path / "1.json").write_text(process(a_one=one, b_two=half))
    (tmp_path / "2.json").write_text(process(a_one=other, b_two=half))
    measured = together(tmp_path)
    assert share(measured, "a/") == pytest.approx(100 * 3 / 5)
    assert share(measured, "b/") == pytest.approx(50)
    assert share(measured, "") == pytest.approx(100 * 4 / 7)


def test_where_nothing_was_measured_nothing_is_covered(tmp_path):
    assert share(together(tmp_path), "") == 0.0
