"""Assignments of review queues, which may name their reviewers."""

from django.conf import settings
from django.db import migrations, models
import django.db.models.deletion


class Migration(migrations.Migration):
    """Rename seats, and drop what restored a review state."""

    dependencies = [("copilot_admin", "0014_sign_in")]
    operations = [
        migrations.RenameModel("Seat", "Assignment"),
        migrations.RemoveField("assignment", "was_new"),
        *(
            migrations.AlterField(
                "assignment",
                name,
                models.ForeignKey(
                    on_delete=django.db.models.deletion.CASCADE,
                    related_name="assignments",
                    to=f"copilot_admin.{model}",
                    db_index=name == "conversation",
                ),
            )
            for name, model in (("queue", "reviewqueue"), ("conversation", "conversation"))
        ),
        migrations.AddField(
            "reviewqueue",
            "reviewers",
            models.ManyToManyField(
                to=settings.AUTH_USER_MODEL,
                blank=True,
                related_name="+",
                verbose_name="assigned to",
                help_text="Leave empty to let every reviewer take the next conversation.",
            ),
        ),
        migrations.AlterField(
            "verdict",
            "rating",
            models.CharField(
                "rating",
                max_length=5,
                blank=True,
                choices=[("good", "Good"), ("mixed", "Mixed"), ("bad", "Bad")],
            ),
        ),
        migrations.AlterModelOptions(
            "reviewqueue",
            {
                "ordering": ["-id"],
                "verbose_name": "review queue",
                "verbose_name_plural": "review queues",
            },
        ),
        migrations.AlterField(
            "criterion",
            "help",
            models.CharField(
                "explanation",
                max_length=200,
                blank=True,
                help_text="When to use it. For a score, what the lowest and highest values mean.",
            ),
        ),
        migrations.AlterField(
            "criterion",
            "is_retired",
            models.BooleanField(
                "archived",
                default=False,
                help_text="No longer offered to reviewers. Earlier reviews keep it.",
            ),
        ),
        migrations.AlterField(
            "criterion",
            "kind",
            models.CharField(
                "kind",
                max_length=5,
                choices=[("label", "Label"), ("score", "Score")],
                default="label",
            ),
        ),
        migrations.AlterField(
            "reviewqueue",
            "judges",
            models.PositiveSmallIntegerField("reviewers per conversation", default=1),
        ),
    ]
