"""One judgement of a turn by each kind of judge; of several that raced the newest stays.

Code of the release before lives with the constraint: it judges by `update_or_create`, which reads again
where another was faster. Judgements are few, so the index is built within the transaction.
"""

from typing import Any

from django.db import migrations, models
from django.db.models import Exists, OuterRef


def keep_the_newest(apps: Any, schema_editor: object) -> None:
    feedback = apps.get_model("copilot_admin", "Feedback").objects.order_by()
    newer = feedback.filter(
        turn=OuterRef("turn"), source=OuterRef("source"), pk__gt=OuterRef("pk")
    )
    older = feedback.filter(Exists(newer))
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
