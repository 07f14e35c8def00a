"""Thumbs down are found by when they were given; texts are folded once more, for the dotless i."""

from typing import Any

from django.db import migrations, models


def fold_again(apps: Any, schema_editor: object) -> None:
    """Has the texts that are searched written anew in the background, in short batches."""
    newest = apps.get_model("copilot_admin", "Turn").objects.order_by("-pk").first()
    if newest is not None:
        apps.get_model("copilot_admin", "Filling").objects.update_or_create(
            name="search", defaults={"below": newest.pk + 1, "moved_at": None}
        )


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0043_feedback_once'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='feedback',
            index=models.Index(condition=models.Q(('source', 'end_user'), ('value', -1)), fields=['created_at'], name='feedback_complaints'),
        ),
        migrations.RunPython(fold_again, migrations.RunPython.noop),
    ]
