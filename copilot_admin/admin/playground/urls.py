"""URLs of the playground."""

from django.urls import path

from copilot_admin.admin.common.reach import within_reach
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
    path("<id:pk>/answer/", within_reach(show_answer), name="answer"),
    path("<id:pk>/targets/", within_reach(list_targets), name="targets"),
    path("<id:pk>/html/", within_reach(show_html), name="html"),
    path("<id:pk>/rate/", within_reach(rate_answer), name="rate"),
    path("<id:pk>/save/", within_reach(save_test), name="save"),
]
