"""The addresses of connecting."""

from django.urls import path

from copilot_admin.admin.connect.views import make_key, page, test
from copilot_admin.admin.frame.site import site

app_name = "connect"
urlpatterns = [
    path("<int:pk>/", site.admin_view(page), name="page"),
    path("<int:pk>/key/", site.admin_view(make_key), name="key"),
    path("<int:pk>/test/", site.admin_view(test), name="test"),
]
