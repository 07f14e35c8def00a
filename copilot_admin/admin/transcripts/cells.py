"""The cells of the transcript list as HTML: it has five hundred, and a template takes long for each."""

from collections.abc import Iterable
from datetime import datetime
from urllib.parse import quote

from django.utils.formats import date_format
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from copilot_admin.admin.transcripts.words import ShownWords, outcome_words
from copilot_admin.models import Conversation, EndUser, ReviewState
from copilot_admin.rendering.text import shortened
from copilot_admin.transcripts.search.row_details import ExcerptPiece, Reason

NONE = "–"  # noqa: RUF001  # a dash
MOST_ERRORS = 2  # kinds that a row names
LONGEST_NAME = 28
LONGEST_TITLE = 60  # of a box's label


def box_cell(conversation: Conversation) -> SafeString:
    """A box of the form below the list."""
    label = _("Choose “%(title)s”") % {"title": shortened(conversation.title, most=LONGEST_TITLE)}
    return format_html(
        '<input type="checkbox" name="chosen" value="{}" form="learn-form" aria-label="{}">',
        str(conversation.pk),
        label,
    )


def question_cell(
    conversation: Conversation, excerpt: Iterable[ExcerptPiece], *, turns: int, by_id: bool
) -> SafeString:
    """The title, in its own direction of writing, and where the words are that were searched for.

    Args:
        conversation: Of the row.
        excerpt: The words, with what stands around them.
        turns: In how many questions or their answers they are.
        by_id: It was found by its id.
    """
    cell = format_html(
        '<bdi class="ca-first-question" data-ca-cut>{}</bdi>',
        conversation.title or _("(no text kept)"),
    )
    marked = "".join(
        format_html('<mark class="ca-hit">{}</mark>', one.text) if one.is_hit else escape(one.text)
        for one in excerpt
    )
    if marked:
        cell += format_html('<span class="ca-excerpt" dir="auto">{}</span>', SafeString(marked))
    if turns > 1:
        cell += _also(_("in %(number)s questions or their answers") % {"number": turns})
    return cell + _also(_("found by its id")) if by_id else cell


def outcome_cell(conversation: Conversation, errors: Iterable[str]) -> SafeString:
    """How the last answer ended; whether an earlier one went wrong, and what happened."""
    words = outcome_words(conversation.last_outcome)
    cell = _outcome(words)
    if conversation.has_error and words.tone != "bad":
        cell += _also(_("an answer failed"))
    if conversation.has_branch:
        cell += _also(_("has branches"))
    named = ((code,) for code in list(errors)[:MOST_ERRORS])
    return cell + format_html_join("", '<code class="ca-also">{}</code>', named)


def user_cell(user: EndUser | None) -> SafeString:
    """Who asked; leads to what else he asked."""
    if user is None:
        return SafeString(NONE)
    return format_html(
        '<a href="?user={}" title="{}"><bdi>{}</bdi></a>',
        quote(user.identifier, safe=""),
        user.identifier,
        shortened(str(user), most=LONGEST_NAME),
    )


def when_cell(at: datetime) -> SafeString:
    """A day and a time, to the minute; to the second on a second look."""
    here = localtime(at)
    return format_html(
        '<time datetime="{}" title="{} {}"><span>{}</span> <span>{}</span></time>',
        here.isoformat(),
        date_format(here, "j M Y H:i:s"),
        _("UTC"),
        date_format(here, "DATE_FORMAT"),
        date_format(here, "H:i"),
    )


def judged_cell(conversation: Conversation, reasons: Iterable[Reason]) -> SafeString:
    """The thumbs of the people who asked with their reasons, and how far a review is."""
    down, up = conversation.n_down, conversation.n_up
    badges = []
    if down:
        badges.append(_badge("bad", _("%(number)s down") % {"number": down}))
    if up:
        badges.append(_badge("good", _("%(number)s up") % {"number": up}))
    if not badges:
        badges.append(format_html('<span class="ca-muted">{}</span>', NONE))
    if conversation.review_state != ReviewState.NEW:
        state = conversation.get_review_state_display()
        badges.append(format_html('<span class="ca-muted">{}</span>', state))
    texts = ((one.text,) for one in reasons)
    also = format_html_join("", '<span class="ca-also"><bdi>{}</bdi></span>', texts)
    return SafeString(" ".join(badges)) + also


def _outcome(words: ShownWords) -> SafeString:
    return format_html(
        '<span class="ca-outcome ca-outcome-{}"><svg class="ca-icon{}" aria-hidden="true">'
        '<use href="#ca-outcome-{}"></use></svg>{}</span>',
        words.tone,
        " ca-turning" if words.icon == "running" else "",
        words.icon,
        words.label,
    )


def _also(text: str) -> SafeString:
    return format_html('<span class="ca-also">{}</span>', text)


def _badge(tone: str, text: str) -> SafeString:
    return format_html('<span class="ca-badge ca-badge-{}">{}</span>', tone, text)
