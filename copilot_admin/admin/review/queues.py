"""Review queues in the admin, and the labels and scores that reviewers give."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.base import BaseAdmin, number_in, post_only, row_action
from copilot_admin.admin.common.widgets import chip
from copilot_admin.admin.site.site import site
from copilot_admin.admin.transcripts.list_page import reject_unknown
from copilot_admin.admin.transcripts.pages import LIST
from copilot_admin.admin.transcripts.review import redirect_to_next
from copilot_admin.models import Action, Criterion, ReviewQueue
from copilot_admin.review.queues import (
    CLAIM_DURATION,
    MAX_QUEUED,
    MAX_SEED,
    add_to_queue,
    choose_seed,
    draw_sample,
    progress_of,
    summarize_queue,
)
from copilot_admin.transcripts.access import REVIEW, visible_conversations
from copilot_admin.transcripts.search.list_query import MAX_SELECTED, ConversationList, read_query

FOLDER = "admin/copilot_admin/reviewqueue"
ALL = 100  # percent


class QueueForm(forms.ModelForm[ReviewQueue]):
    share = forms.IntegerField(
        label=gettext_lazy("Sample size (%)"),
        min_value=1,
        max_value=ALL,
        initial=ALL,
        help_text=gettext_lazy(
            "100: all matching conversations, the newest first, at most %(max)s."
        )
        % {"max": MAX_QUEUED},
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Random seed"),
        required=False,
        min_value=1,
        max_value=MAX_SEED,
        help_text=gettext_lazy("Optional. The same seed draws the same sample again."),
    )
    judges = forms.TypedChoiceField(
        label=gettext_lazy("Reviewers per conversation"),
        coerce=int,
        choices=[(1, gettext_lazy("One")), (2, gettext_lazy("Two, with agreement"))],
    )

    class Meta:
        model = ReviewQueue
        fields: ClassVar[list[str]] = ["name", "reviewers"]
        widgets: ClassVar[dict[str, Any]] = {"reviewers": forms.CheckboxSelectMultiple}

    field_order = ("name", "judges", "reviewers", "share", "seed")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields[LIST] = forms.CharField(required=False, widget=forms.HiddenInput)
        permission = Q(user_permissions__codename="change_conversation") | Q(
            groups__permissions__codename="change_conversation"
        )
        people = User.objects.filter(permission | Q(is_superuser=True), is_active=True)
        self.fields["reviewers"].queryset = people.distinct().order_by("username")  # type: ignore[attr-defined]


@admin.register(ReviewQueue, site=site)
class QueueAdmin(BaseAdmin[ReviewQueue]):
    """A queue is created once, worked through, and closed."""

    list_display = ("name", "done", "judges", "created_by", "created_at", "status")
    row_views = ("next", "close")
    list_filter = ("is_closed",)
    list_select_related = ("created_by",)
    search_fields = ("name",)
    search_help_text = gettext_lazy("Name")
    actions = None
    empty_state: str | Promise = gettext_lazy("Filter the conversations, then choose Start review.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ReviewQueue]:
        done = Count("assignments", filter=Q(assignments__done_at__isnull=False))
        rows: QuerySet[ReviewQueue] = super().get_queryset(request)
        return rows.annotate(n_assignments=Count("assignments"), n_done=done)

    @admin.display(description=gettext_lazy("Status"), ordering="is_closed")
    def status(self, queue: ReviewQueue) -> SafeString:
        return chip(_("Closed")) if queue.is_closed else chip(_("Open"), "info")

    @admin.display(description=gettext_lazy("Reviewed"))
    def done(self, queue: ReviewQueue) -> str:
        counted: Any = queue
        return _("%(done)s of %(total)s") % {"done": counted.n_done, "total": counted.n_assignments}

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not (self.has_add_permission(request) and request.user.has_perm(REVIEW)):
            raise PermissionDenied
        filters = (request.POST or request.GET).get(LIST, "")
        if rejected := reject_unknown(request, read_query(filters)):
            return rejected
        listed = ConversationList(visible_conversations(request.user), read_query(filters))
        ids = listed.select_ids()
        form = QueueForm(request.POST or None, initial={LIST: filters})
        if form.is_valid() and ids:
            queue = self._create(request, form, ids, filters)
            messages.success(request, _("Review queue created."))
            return self.redirect_to(queue)
        context = {
            **self.page_context(request, _("New review queue")),
            "form": form,
            "found": len(ids),
            "is_bounded": len(ids) == MAX_SELECTED,
            "filters": filters,
        }
        return TemplateResponse(request, f"{FOLDER}/add.html", context)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        queue = get_object_or_404(ReviewQueue, pk=number_in(object_id))
        context = {
            **self.page_context(request, queue.name),
            "queue": queue,
            "reviewers": [str(one) for one in queue.reviewers.all()],
            "progress": progress_of(queue, now=timezone.now()),
            "result": summarize_queue(queue),
            "minutes": CLAIM_DURATION.seconds // 60,
        }
        return TemplateResponse(request, f"{FOLDER}/queue.html", context)

    @post_only
    def next_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not request.user.has_perm(REVIEW):
            raise PermissionDenied
        return redirect_to_next(request, pk)

    @row_action
    def close_view(self, request: HttpRequest, queue: ReviewQueue) -> None:
        wanted = request.POST.get("closed", "")
        if wanted not in ("0", "1"):
            raise Http404
        before = {"is_closed": queue.is_closed}
        queue.is_closed = wanted == "1"
        after = {"is_closed": queue.is_closed}
        if before != after:
            queue.save(update_fields=["is_closed"])
            self.audit(request, Action.CHANGED, queue, before=before, after=after)

    def has_delete_permission(self, request: HttpRequest, obj: ReviewQueue | None = None) -> bool:
        return False

    def _create(
        self, request: HttpRequest, form: QueueForm, ids: list[int], filters: str
    ) -> ReviewQueue:
        wanted = form.cleaned_data
        share, seed = wanted["share"], wanted["seed"] or choose_seed()
        queue = form.save(commit=False)
        queue.filters, queue.n_matching, queue.judges = filters, len(ids), wanted["judges"]
        queue.created_by_id = request.user.pk
        facts = {"judges": queue.judges, "conversations": queue.n_matching}
        if share < ALL:
            queue.share, queue.seed = share, seed
            facts |= {"share": share, "seed": seed}
        with transaction.atomic():
            queue.save()
            form.save_m2m()
            add_to_queue(queue, draw_sample(ids, percent=share, seed=seed))
            self.audit(request, Action.ADDED, queue, after=facts)
        return queue


@admin.register(Criterion, site=site)
class CriterionAdmin(BaseAdmin[Criterion]):
    """Labels and scores; a used one is archived instead of deleted, so that reviews keep it."""

    list_display = ("name", "kind", "help", "position", "status")
    list_filter = ("kind", "is_retired")
    search_fields = ("name",)
    search_help_text = gettext_lazy("Name")
    actions = None
    fields = ("name", "kind", "help", "lowest", "highest", "position", "is_retired")
    empty_state: str | Promise = gettext_lazy(
        "No labels yet. Add a label such as “wrong number”, or a score from 1 to 5."
    )

    @admin.display(description=gettext_lazy("Status"), ordering="is_retired")
    def status(self, criterion: Criterion) -> SafeString:
        return chip(_("Archived")) if criterion.is_retired else chip(_("Active"), "good")

    def get_readonly_fields(
        self, request: HttpRequest, obj: Criterion | None = None
    ) -> tuple[str, ...]:
        """Lock what would change the meaning of earlier reviews."""
        is_used = obj is not None and obj.marks.exists()
        return ("kind", "lowest", "highest") if is_used else ()

    def has_delete_permission(self, request: HttpRequest, obj: Criterion | None = None) -> bool:
        return False
