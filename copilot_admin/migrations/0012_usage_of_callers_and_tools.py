"""Counts of callers and tools, written tokens, and notices that users hide."""

from django.conf import settings
from django.db import migrations, models


def _number() -> "models.PositiveBigIntegerField[int, int]":
    return models.PositiveBigIntegerField(default=0)


class Migration(migrations.Migration):
    """Add columns and two tables; earlier days stay at 0 in them."""

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("copilot_admin", "0011_demo_copilots"),
    ]
    operations = [
        *(
            migrations.AddField("callerday", name, _number())
            for name in ("runs", "questions", "errors", "tokens", "unpriced", "up", "down")
        ),
        migrations.AddField(
            "callerday", "cost", models.DecimalField(max_digits=24, decimal_places=12, default=0)
        ),
        *(
            migrations.AddField(table, "output_tokens", _number())
            for table in ("dailytotal", "dailyusage", "hourlyusage")
        ),
        migrations.CreateModel(
            "ToolUsage",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                (
                    "copilot",
                    models.ForeignKey("copilot_admin.copilot", models.CASCADE, related_name="+"),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("widget", "Widget"),
                            ("client", "Workspace function"),
                            ("server", "Tool"),
                        ],
                        max_length=10,
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("number", _number()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["day", "copilot", "kind", "name"], name="tool_usage_row"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            "HiddenNotice",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        settings.AUTH_USER_MODEL,
                        models.CASCADE,
                        related_name="+",
                        db_index=False,
                    ),
                ),
                ("name", models.CharField(max_length=50)),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=["user", "name"], name="hidden_notice_once")
                ],
            },
        ),
    ]
