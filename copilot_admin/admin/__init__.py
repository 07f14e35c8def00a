"""The admin: importing this package registers its pages at the site."""

from copilot_admin.admin.access import keys, people
from copilot_admin.admin.alerts import history, rules, webhooks
from copilot_admin.admin.analytics import views as analytics
from copilot_admin.admin.audit import admin as audit
from copilot_admin.admin.components import calls
from copilot_admin.admin.components import views as components
from copilot_admin.admin.copilots import admin as copilots
from copilot_admin.admin.limits import views as limits
from copilot_admin.admin.pricing import admin as pricing
from copilot_admin.admin.privacy import views as privacy
from copilot_admin.admin.providers import admin as providers
from copilot_admin.admin.review import exports, queues
from copilot_admin.admin.site import jobs
from copilot_admin.admin.transcripts import admin as transcripts

__all__ = [
    "analytics",
    "audit",
    "calls",
    "components",
    "copilots",
    "exports",
    "history",
    "jobs",
    "keys",
    "limits",
    "people",
    "pricing",
    "privacy",
    "providers",
    "queues",
    "rules",
    "transcripts",
    "webhooks",
]
