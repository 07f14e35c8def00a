"""The admin: Django finds its pages by importing this package.

Doors: `frame.site`, `playground.urls` and `connect.urls` for `urls`, `frame.login` for the limits of
log-ins in `settings` and the commands that lift them, `logins.middleware` and `logins.backend` for `settings`, `logins.urls` and
`logins.password_reset` for `urls`, `transcripts.words` for the filters of templates.
"""

from copilot_admin.admin.access import keys, people
from copilot_admin.admin.alerts import digests, history, rules, webhooks
from copilot_admin.admin.audit import admin as audit
from copilot_admin.admin.copilots import admin as copilots
from copilot_admin.admin.prices import admin as prices
from copilot_admin.admin.providers import admin as providers
from copilot_admin.admin.review import criteria, exports, queues
from copilot_admin.admin.transcripts import admin as transcripts
from copilot_admin.admin.transcripts import component_calls

__all__ = [
    "audit",
    "component_calls",
    "copilots",
    "criteria",
    "digests",
    "exports",
    "history",
    "keys",
    "people",
    "prices",
    "providers",
    "queues",
    "rules",
    "transcripts",
    "webhooks",
]
