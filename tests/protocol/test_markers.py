"""Markers that the client put into answers of the past."""

import pytest

from protocol.markers import artifact_names, strip_markers


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("plain", "plain"),
        ("", ""),
        ("a < b and c > d", "a < b and c > d"),
        ("see <|start_artifact_id|>prices<|end_artifact_id|>.", "see ."),
        ("a<|start_citation_id|>8b2e<|end_citation_id|> b", "a b"),
        ("<|start_artifact_id|>a<|end_artifact_id|><|start_citation_id|>b<|end_citation_id|>", ""),
        ("never <|start_artifact_id|>ended", "never ended"),
        ("only the end<|end_citation_id|>", "only the end"),
        ("<|start_artifact_id|>x<|end_citation_id|>y", "xy"),
        ("<|start_artifact_id|>a<|start_citation_id|>b<|end_artifact_id|>c", "c"),
        # what began within a name is no marker
        (
            "<|start_artifact_id|>a<|start_citation_id|>b<|end_artifact_id|>c<|end_citation_id|>d",
            "cd",
        ),
        ('see <artifact className="prices"/> and <citation className="8b2e" />', "see  and "),
        ('<artifact className="x"></artifact>', ""),
        ("<artifacts> stay, <citation never closed", "<artifacts> stay, <citation never closed"),
        ("<|start_artifact_id|>" + "x" * 300 + "<|end_artifact_id|>", "x" * 300),
    ],
)
def test_markers_are_taken_out(text: str, stripped: str):
    assert strip_markers(text) == stripped


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("plain", ()),
        ("see <|start_artifact_id|>Prices | 2<|end_artifact_id|>.", ("Prices | 2",)),
        ("<|start_artifact_id|>a<|end_artifact_id|><|start_artifact_id|>b<|end_artifact_id|>",
         ("a", "b")),
        ("<|start_citation_id|>a<|end_citation_id|>", ()),
        ("<|start_artifact_id|>never ended", ()),
        ("<|start_artifact_id|>" + "x" * 300 + "<|end_artifact_id|>", ()),
        ('<artifact className="Prices"/> <artifact className="More" />', ("Prices", "More")),
        ('<artifact className=""/><artifact name="x"/><citation className="c"/>', ()),
    ],
)  # fmt: skip
def test_names_of_artifacts_are_known(text: str, names: tuple[str, ...]):
    assert artifact_names(text) == names
