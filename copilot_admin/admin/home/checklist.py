"""First-run checklist: the steps from an empty server to a copilot in Workspace."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.analytics.charts import meter
from copilot_admin.agent.providers.demo import DemoModel
from copilot_admin.copilots.publishing import has_changes
from copilot_admin.models import Conversation, Copilot, HiddenNotice, Provider, Run
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.server.first_start import read_samples
from protocol.json import object_of, objects_of, text_of

NOTICE = "checklist"
MAX_PEOPLE = 90


class Step(NamedTuple):
    """A step; an open one has a button for those who may do it."""

    key: str
    title: str
    detail: str
    is_done: bool
    url: str
    button: str


def build_checklist(user: User) -> dict[str, Any] | None:
    """Return the checklist; None if everything is done, or the user hid it or can't do the steps."""
    if not user.has_perm("copilot_admin.add_copilot"):
        return None
    if HiddenNotice.objects.filter(user=user, name=NOTICE).exists():
        return None
    own = reachable(user).filter(is_demo=False).exclude(slug__in=_sample_slugs())
    copilots = list(own.select_related("live").order_by("-live_id", "pk")[:10])
    newest = copilots[0] if copilots else None
    create = Step(
        "create",
        _("Create a copilot"),
        newest.name if newest else _("From a template or from scratch"),
        newest is not None,
        reverse("admin:copilot_admin_copilot_templates"),
        _("Choose a template"),
    )
    rest = (_try(newest, copilots), _publish(newest), _connect_workspace(newest))
    steps = (_connect_model(user), create, *rest)
    n_done = sum(step.is_done for step in steps)
    if n_done == len(steps):
        return None
    bar = meter(n_done / len(steps), "ca-meter--s")
    return {"steps": steps, "n_done": n_done, "meter": bar}


@cache
def _sample_slugs() -> frozenset[str]:
    rows = objects_of(object_of(read_samples()).get("copilots"))
    return frozenset(text_of(row.get("slug")) for row in rows)


def _connect_model(user: User) -> Step:
    provider = Provider.objects.exclude(kind=DemoModel.kind).order_by("pk").first()
    may_connect = user.has_perm("copilot_admin.add_provider")
    detail = _("OpenAI, Azure, Ollama and others") if may_connect else _("Ask an administrator")
    if provider:
        number = len(provider.model_ids)
        models = ngettext("%(n)d model", "%(n)d models", number) % {"n": number}
        detail = f"{provider.name}, {models}" if number else provider.name
    title, is_done = _("Connect a model"), provider is not None
    url = reverse("admin:copilot_admin_provider_connect") if may_connect else ""
    return Step("model", title, detail, is_done, url, title)


def _try(copilot: Copilot | None, copilots: Sequence[Copilot]) -> Step:
    people = User.objects.filter(is_staff=True).values_list("pk", flat=True)[:MAX_PEOPLE]
    callers = [f"{PLAYGROUND}{pk}" for pk in people]
    runs = Run.objects.filter(principal__in=callers, copilot__in=copilots)
    is_done = runs.exclude(principal="anonymous").exists()  # the condition of the index
    detail = _("Questions were answered") if is_done else _("Ask a question next to the form")
    url = reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]) if copilot else ""
    button = _("Open %(name)s") % {"name": copilot.name} if copilot else ""
    return Step("try", _("Try it"), detail, is_done, url, button)


def _publish(copilot: Copilot | None) -> Step:
    is_live = copilot is not None and copilot.live is not None
    detail = _("Make it available to users")
    if copilot and is_live:
        detail = _("Changes are waiting") if has_changes(copilot) else copilot.name
    url = reverse("admin:copilot_admin_copilot_publish")
    url = f"{url}?id={copilot.pk}" if copilot else ""
    return Step("publish", _("Publish it"), detail, is_live, url, _("Publish"))


def _connect_workspace(copilot: Copilot | None) -> Step:
    calls = Conversation.objects.of_callers().exclude(copilot__is_demo=True)
    is_done = calls.order_by("-last_at", "-id").exists()
    detail = _("Questions arrive") if is_done else _("About 2 minutes")
    url = reverse("connect:page", args=[copilot.pk]) if copilot and copilot.live else ""
    return Step("workspace", _("Connect Workspace"), detail, is_done, url, _("Show me how"))
