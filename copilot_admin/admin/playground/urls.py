"""URLs of the playground."""

from django.urls import path

from copilot_admin.admin.common.copilot_access import require_copilot_access
from copilot_admin.admin.playground.ask import ask
from copilot_admin.admin.playground.views import (
    list_targets,
    rate_answer,
    save_test,
    show_answer,
    show_html,
)

app_name = "playground"
urlpatterns = [
    path("<id:pk>/ask/", ask, name="ask"),
    path("<id:pk>/answer/", require_copilot_access(show_answer), name="answer"),
    path("<id:pk>/targets/", require_copilot_access(list_targets), name="targets"),
    path("<id:pk>/html/", require_copilot_access(show_html), name="html"),
    path("<id:pk>/rate/", require_copilot_access(rate_answer), name="rate"),
    path("<id:pk>/save/", require_copilot_access(save_test), name="save"),
]
