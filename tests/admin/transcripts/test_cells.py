"""The cells of the transcript list as HTML: every text in them stays text."""

from datetime import UTC, datetime

import pytest

from copilot_admin.admin.transcripts.cells import (
    box_cell,
    judged_cell,
    outcome_cell,
    question_cell,
    user_cell,
    when_cell,
)
from copilot_admin.models import Conversation, EndUser
from copilot_admin.transcripts.search.excerpts import ExcerptPiece
from copilot_admin.transcripts.search.row_notes import Reason

HOSTILE = '<img src=x onerror="alert(1)">&'
SAFE = "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;"


def row(**changes: object) -> Conversation:
    return Conversation(pk=1234, last_outcome="completed", **changes)


def test_a_box_names_its_conversation_by_a_number_without_signs():
    assert box_cell(row(title=HOSTILE)) == (
        '<input type="checkbox" name="chosen" value="1234" form="learn-form" '
        f'aria-label="Choose “{SAFE}”">'
    )
    assert 'aria-label="Choose “{}…”"'.format("a" * 59) in box_cell(row(title="a" * 61))


def test_a_question_is_shown_with_what_was_found():
    cell = question_cell(
        row(title=HOSTILE),
        [ExcerptPiece("…"), ExcerptPiece(HOSTILE, is_hit=True)],
        turns=2,
        by_id=True,
    )
    assert cell == (
        f'<bdi class="ca-first-question" data-ca-cut>{SAFE}</bdi>'
        f'<span class="ca-excerpt" dir="auto">…<mark class="ca-hit">{SAFE}</mark></span>'
        '<span class="ca-also">in 2 questions or their answers</span>'
        '<span class="ca-also">found by its id</span>'
    )


def test_of_a_question_that_was_not_kept_nothing_is_shown():
    assert question_cell(row(title=""), (), turns=1, by_id=False) == (
        '<bdi class="ca-first-question" data-ca-cut>(no text kept)</bdi>'
    )


def test_an_outcome_says_what_else_went_wrong():
    shown = (
        '<span class="ca-outcome ca-outcome-good"><svg class="ca-icon" aria-hidden="true">'
        '<use href="#ca-outcome-completed"></use></svg>Completed</span>'
    )
    assert outcome_cell(row(), ()) == shown
    assert outcome_cell(row(has_error=True, has_branch=True), [HOSTILE, "b", "c"]) == (
        f'{shown}<span class="ca-also">an answer failed</span>'
        '<span class="ca-also">has branches</span>'
        f'<code class="ca-also">{SAFE}</code><code class="ca-also">b</code>'
    )


def test_what_runs_turns_and_what_failed_says_so_once():
    running = outcome_cell(Conversation(last_outcome="running"), ())
    assert '<svg class="ca-icon ca-turning"' in running
    failed = outcome_cell(Conversation(last_outcome="failed", has_error=True), ())
    assert "an answer failed" not in failed


def test_a_user_leads_to_what_he_asked():
    assert user_cell(None) == "–"
    user = EndUser(identifier=HOSTILE, name="n" * 29)
    assert user_cell(user) == (
        '<a href="?user=%3Cimg%20src%3Dx%20onerror%3D%22alert%281%29%22%3E%26" '
        f'title="{SAFE}"><bdi>{"n" * 27}…</bdi></a>'
    )


def test_a_time_is_said_to_the_minute_and_to_the_second_for_who_asks():
    assert when_cell(datetime(2026, 11, 3, 14, 5, 6, 789, tzinfo=UTC)) == (
        '<time datetime="2026-11-03T14:05:06.000789+00:00" title="3 Nov 2026 14:05:06 UTC">'
        "<span>3 Nov 2026</span> <span>14:05</span></time>"
    )


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, '<span class="ca-muted">–</span>'),
        (
            {"n_down": 2, "n_up": 1, "review_state": "in_review"},
            '<span class="ca-badge ca-badge-bad">2 down</span> '
            '<span class="ca-badge ca-badge-good">1 up</span> '
            '<span class="ca-muted">In review</span>',
        ),
    ],
)
def test_thumbs_are_shown_with_their_reasons(changes, shown):
    reasons = [Reason(is_good=False, text=HOSTILE)]
    assert judged_cell(row(**changes), ()) == shown
    assert judged_cell(row(**changes), reasons) == (
        f'{shown}<span class="ca-also"><bdi>{SAFE}</bdi></span>'
    )
