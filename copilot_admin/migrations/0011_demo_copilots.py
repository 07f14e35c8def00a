"""Mark copilots that belong to the demo data."""
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0010_provider_checks'),
    ]

    operations = [
        migrations.AddField(
            model_name='copilot',
            name='is_demo',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
