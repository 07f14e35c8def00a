"""Sessions are rows of allauth now, roles can require a second factor, and the old lockouts go."""

from django.db import migrations, models

AXES_TABLES = ("axes_accessattempt", "axes_accessfailurelog", "axes_accesslog", "axes_accessattemptexpiration")


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("copilot_admin", "0013_evaluations"),
    ]

    operations = [
        migrations.DeleteModel(name="LogIn"),
        migrations.CreateModel(
            name="RoleSecurity",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("group", models.OneToOneField(on_delete=models.CASCADE, related_name="security", to="auth.group")),
                ("requires_second_factor", models.BooleanField(default=False, help_text="Users with this role set it up at their next page.", verbose_name="require two-factor authentication")),
            ],
            options={"default_permissions": ()},
        ),
        *(
            migrations.RunSQL(f"DROP TABLE IF EXISTS {table}", migrations.RunSQL.noop)
            for table in reversed(AXES_TABLES)
        ),
        migrations.RunSQL("DELETE FROM django_migrations WHERE app = 'axes'", migrations.RunSQL.noop),
    ]
