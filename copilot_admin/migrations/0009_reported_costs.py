"""Costs that a provider reports."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Name the new kind; the column stays as it is."""

    dependencies = [("copilot_admin", "0008_provider_options")]
    operations = [
        migrations.AlterField(
            "run",
            "cost_confidence",
            models.CharField(
                choices=[
                    ("reported", "Reported by the provider"),
                    ("exact", "Exact"),
                    ("estimated", "Estimated"),
                    ("unknown", "Unknown"),
                ],
                default="unknown",
                max_length=10,
            ),
        ),
    ]
