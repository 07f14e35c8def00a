"""The filters of the transcript list, in the order in which its form asks them.

What a choice lists comes from small tables, never from the log. What is asked of other tables than
`Conversation` is an EXISTS over an index. A filter more is an entry in a module of `filtering/`; the
page, its form, saved views and the plan tests take it from here.
"""

from collections.abc import Mapping

from copilot_admin.transcripts.filters.amounts import AMOUNTS
from copilot_admin.transcripts.filters.answerers import ANSWERERS
from copilot_admin.transcripts.filters.askers import ASKERS, TRIALS
from copilot_admin.transcripts.filters.days import DAYS
from copilot_admin.transcripts.filters.ends import ENDS
from copilot_admin.transcripts.filters.figures import COUNTED
from copilot_admin.transcripts.filters.filter import TranscriptFilter
from copilot_admin.transcripts.filters.judgements import OF_REVIEWERS, OF_USERS
from copilot_admin.transcripts.filters.traits import TRAITS

FILTERS: tuple[TranscriptFilter, ...] = (
    *ANSWERERS,
    *ASKERS,
    *DAYS,
    *ENDS,
    *OF_USERS,
    *AMOUNTS,
    *TRAITS,
    *OF_REVIEWERS,
    COUNTED,
    TRIALS,
)
BY_NAME: Mapping[str, TranscriptFilter] = {one.name: one for one in FILTERS}
