"""A table of the requests that limits rejected."""

from django.db import migrations, models

SCOPES = [
    ("server", "Server"),
    ("copilot", "Copilot"),
    ("key", "API key"),
    ("user", "User"),
    ("address", "IP address"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("copilot_admin", "0003_alerts_without_quotes"),
    ]

    operations = [
        migrations.CreateModel(
            name="LimitRejection",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("minute", models.DateTimeField()),
                ("scope", models.CharField(choices=SCOPES, max_length=10)),
                ("subject", models.CharField(blank=True, max_length=255)),
                ("kind", models.CharField(max_length=30)),
                ("number", models.PositiveIntegerField()),
                ("last_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("minute", "scope", "subject", "kind"), name="rejections_of_minute"
                    )
                ],
            },
        ),
    ]
