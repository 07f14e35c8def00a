"""Review queues in the admin: made of a filtered list, handed out, watched, closed."""

from typing import Any, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.review.queue_form import QueueForm
from copilot_admin.admin.site.site import site
from copilot_admin.admin.transcripts.beside import newest_ids, rows_of_list
from copilot_admin.admin.transcripts.filter_form import refused_page
from copilot_admin.admin.transcripts.onward import next_in_queue
from copilot_admin.admin.transcripts.way import LIST, filters_in
from copilot_admin.models import Action, Conversation, ReviewQueue
from copilot_admin.review.agreement import agreement_in
from copilot_admin.review.queues import (
    MOST_DRAWN_FROM,
    drawn,
    make_queue,
    new_seed,
    progress_of,
    set_closed,
)

FOLDER = "admin/copilot_admin/reviewqueue"
JUDGE = "copilot_admin.change_conversation"
ALL = 100  # per cent

post_only = method_decorator(require_POST)


@admin.register(ReviewQueue, site=site)
class QueueAdmin(BaseAdmin[ReviewQueue]):
    """A queue is chosen once; then it is read to its end, or closed."""

    list_display = ("name", "done", "each", "created_by", "created_at", "is_closed")
    list_filter = ("is_closed",)
    list_select_related = ("created_by",)
    list_per_page = 50
    search_fields = ("name",)
    search_help_text = gettext_lazy("Name")
    actions = None
    empty_state: str | Promise = gettext_lazy(
        "There is no queue. Filter the transcripts, then make a queue of what you see."
    )

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        name = "copilot_admin_reviewqueue_{}".format
        own = [
            path("<id:pk>/next/", wrap(self.next_view), name=name("next")),
            path("<id:pk>/close/", wrap(self.close_view), name=name("close")),
        ]
        return own + super().get_urls()

    def get_queryset(self, request: HttpRequest) -> QuerySet[ReviewQueue]:
        done = Count("seats", filter=Q(seats__done_at__isnull=False))
        rows: QuerySet[ReviewQueue] = super().get_queryset(request)
        return rows.annotate(n_seats=Count("seats"), n_done=done)

    @admin.display(description=gettext_lazy("Done"))
    def done(self, queue: ReviewQueue) -> str:
        """Readings that are done, of all."""
        counted: Any = queue
        return _("%(done)s of %(total)s") % {"done": counted.n_done, "total": counted.n_seats}

    @admin.display(description=gettext_lazy("Judges"))
    def each(self, queue: ReviewQueue) -> int:
        """How many people judge each conversation."""
        return queue.judges

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not (self.has_add_permission(request) and request.user.has_perm(JUDGE)):
            raise PermissionDenied
        filters = filters_in((request.POST or request.GET).get(LIST, ""))
        if filters is None:
            messages.error(request, _("The filters are too long for a queue. Choose less in them."))
            return HttpResponseRedirect(reverse("admin:copilot_admin_conversation_changelist"))
        if (refused := refused_page(request, filters)) is not None:
            return refused
        ids = self._found(request, filters)
        form = QueueForm(request.POST or None, initial={LIST: filters})
        if form.is_valid() and ids:
            queue = form.save(commit=False)
            queue.filters, queue.n_matching = filters, len(ids)
            queue.created_by_id = request.user.pk
            self._make(request, queue, ids, form.cleaned_data)
            messages.success(request, _("The queue is made. Read the first conversation."))
            return HttpResponseRedirect(self._address(queue))
        context = {
            **self.page_context(request, _("New queue")),
            "form": form,
            "found": len(ids),
            "is_bounded": len(ids) == MOST_DRAWN_FROM,
            "filters": filters,
        }
        return TemplateResponse(request, f"{FOLDER}/make.html", context)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        is_id = object_id.isascii() and object_id.isdecimal() and len(object_id) <= 18
        queue = get_object_or_404(ReviewQueue, pk=object_id if is_id else None)
        context = {
            **self.page_context(request, queue.name),
            "queue": queue,
            "progress": progress_of(queue, now=timezone.now()),
            "agreement": agreement_in(queue) if queue.judges > 1 else [],
        }
        return TemplateResponse(request, f"{FOLDER}/queue.html", context)

    @post_only
    def next_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Hands out a conversation."""
        if not request.user.has_perm(JUDGE):
            raise PermissionDenied
        return next_in_queue(request, get_object_or_404(ReviewQueue, pk=pk))

    @post_only
    def close_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Closes a queue, or opens it again; what was judged stays."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        wanted = request.POST.get("closed", "")
        if wanted not in ("0", "1"):
            raise Http404
        queue = get_object_or_404(ReviewQueue, pk=pk)
        was = queue.is_closed
        with transaction.atomic():
            set_closed(queue, is_closed=wanted == "1")
            before, after = {"is_closed": was}, {"is_closed": queue.is_closed}
            if before != after:
                self.audit(request, Action.CHANGED, queue, before=before, after=after)
        return HttpResponseRedirect(self._address(queue))

    def has_delete_permission(self, request: HttpRequest, obj: ReviewQueue | None = None) -> bool:
        return False

    def _make(
        self, request: HttpRequest, queue: ReviewQueue, ids: list[int], wanted: dict[str, Any]
    ) -> None:
        share, seed = wanted["share"], wanted["seed"] or new_seed()
        queue.judges = wanted["judges"]
        facts = {"judges": queue.judges, "conversations": queue.n_matching}
        if share < ALL:
            queue.share, queue.seed = share, seed
            facts |= {"share": share, "seed": seed}
        with transaction.atomic():
            make_queue(queue, drawn(ids, share=share, seed=seed))
            self.audit(request, Action.ADDED, queue, after=facts)

    def _found(self, request: HttpRequest, filters: str) -> list[int]:
        page = cast("BaseAdmin[Conversation]", self.admin_site.get_model_admin(Conversation))
        rows = rows_of_list(page, request, filters)
        if rows is None:
            return []
        return newest_ids(rows)

    def _address(self, queue: ReviewQueue) -> str:
        return reverse("admin:copilot_admin_reviewqueue_change", args=[queue.pk])
