"""The addresses of the playground."""

from django.urls import path

from copilot_admin.admin.common.reach import within_reach
from copilot_admin.admin.playground.choices import choices
from copilot_admin.admin.playground.html_frame import html_frame
from copilot_admin.admin.playground.views import answer, ask, judge, save

app_name = "playground"
urlpatterns = [
    path("<id:pk>/ask/", ask, name="ask"),
    path("<id:pk>/answer/", within_reach(answer), name="answer"),
    path("<id:pk>/choices/", within_reach(choices), name="choices"),
    path("<id:pk>/html/", within_reach(html_frame), name="html"),
    path("<id:pk>/judge/", within_reach(judge), name="judge"),
    path("<id:pk>/save/", within_reach(save), name="save"),
]
