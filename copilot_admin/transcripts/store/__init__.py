"""The journal: every run committed before its first byte, and again before its last.

In come openings, outputs and endings; out come what is remembered of a conversation, and rows.
How an output is kept stands in `contents`. Doors: what is named here; `recorder`, which folds
outputs, `record`, which they become, and `token_sums`; `unkept` for the sentence of an answer that was not kept; for `reading` `checkpoints`,
`sealing` and `reaping`; `search_index` and `seen` for who searches, `votes` and
`second_judges` for who judges, and with `usage` for what fills them for old turns; `users` and `usage` for `privacy`, which
has people forgotten, and for calls of components.
"""

from copilot_admin.transcripts.store.heartbeat import HEARTBEAT_SECONDS, SILENCE, beat, is_missed
from copilot_admin.transcripts.store.journal import BOOT_ID, JOURNAL, PREPARE_INLINE_BYTES, Journal
from copilot_admin.transcripts.store.reaping import reap
from copilot_admin.transcripts.store.replay import replay_spool
from copilot_admin.transcripts.store.values import Accepted, Kept, Opening, Refusal

__all__ = [
    "BOOT_ID",
    "HEARTBEAT_SECONDS",
    "JOURNAL",
    "PREPARE_INLINE_BYTES",
    "SILENCE",
    "Accepted",
    "Journal",
    "Kept",
    "Opening",
    "Refusal",
    "beat",
    "is_missed",
    "reap",
    "replay_spool",
]
