"""The journal: every run committed before its first byte, and again before its last."""

from copilot_admin.journal.heartbeat import HEARTBEAT_SECONDS, beat
from copilot_admin.journal.journal import BOOT_ID, JOURNAL, Journal
from copilot_admin.journal.reaping import reap
from copilot_admin.journal.replay import replay_spool
from copilot_admin.journal.values import Accepted, Opening, Refusal

__all__ = [
    "BOOT_ID",
    "HEARTBEAT_SECONDS",
    "JOURNAL",
    "Accepted",
    "Journal",
    "Opening",
    "Refusal",
    "beat",
    "reap",
    "replay_spool",
]
