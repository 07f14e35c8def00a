"""One judgement of a turn by each kind of judge; of several that raced the newest stays and counts.

Code of the release before lives with the constraint: it judges by `update_or_create`, which reads again
where another was faster. Judgements are few, so the index is built within the transaction.
"""

from datetime import UTC
from typing import Any

from django.db import migrations, models
from django.db.models import Exists, F, OuterRef


def uncount(apps: Any, judgement: Any) -> None:
    """Takes one out of the rollups, where it counts: with the first request of its question."""
    runs = apps.get_model("copilot_admin", "Run").objects.order_by("pk")
    asked = runs.filter(turn=judgement.turn_id, started_at=F("turn__started_at"))
    run = asked.select_related("copilot_version").first()
    if run is None or run.principal.startswith("playground:"):
        return
    hour = run.started_at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    version = run.copilot_version.number if run.copilot_version else 0
    total = {"copilot": run.copilot_id, "version": version}
    vote = "up" if judgement.counted > 0 else "down"
    for name, where in (
        ("HourlyUsage", {"hour": hour, "model": run.model}),
        ("DailyUsage", {"day": hour.date(), "model": run.model}),
        ("DailyTotal", {"day": hour.date()}),
    ):
        rows = apps.get_model("copilot_admin", name).objects.filter(**total, **where)
        rows.filter(**{f"{vote}__gt": 0}).update(**{vote: F(vote) - 1})


def keep_the_newest(apps: Any, schema_editor: object) -> None:
    feedback = apps.get_model("copilot_admin", "Feedback").objects.order_by()
    newer = feedback.filter(
        turn=OuterRef("turn"), source=OuterRef("source"), pk__gt=OuterRef("pk")
    )
    older = feedback.filter(Exists(newer))
    for judgement in older.filter(source="end_user").exclude(counted=0):
        uncount(apps, judgement)
    ids = list(older.values_list("pk", flat=True))
    judged = list(older.values_list("turn__conversation_id", flat=True).distinct())
    feedback.filter(pk__in=ids).delete()
    for pk in judged:
        values = list(feedback.filter(turn__conversation=pk).values_list("value", flat=True))
        up = sum(value > 0 for value in values)
        apps.get_model("copilot_admin", "Conversation").objects.filter(pk=pk).update(
            n_up=up, n_down=len(values) - up
        )


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0042_erased_users'),
    ]

    operations = [
        migrations.RunPython(keep_the_newest, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name='feedback',
            constraint=models.UniqueConstraint(fields=('turn', 'source'), name='feedback_once'),
        ),
    ]
