"""Routes of the Connect page."""

from django.urls import path

from copilot_admin.admin.connect.views import allow, forbid, make_key, page, test
from copilot_admin.admin.site.site import site

app_name = "connect"
urlpatterns = [
    path("<id:pk>/", site.admin_view(page), name="page"),
    path("<id:pk>/key/", site.admin_view(make_key), name="key"),
    path("<id:pk>/allow/", site.admin_view(allow), name="allow"),
    path("<id:pk>/forbid/", site.admin_view(forbid), name="forbid"),
    path("<id:pk>/test/", site.admin_view(test), name="test"),
]
