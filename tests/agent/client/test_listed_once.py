"""A widget that stands in several groups of a request is listed once."""

from copilot_admin.agent.client.widget_offer import each_once, listed_widgets
from protocol.models import WidgetParam, Widgets
from tests.agent.engine_inputs import make_query, make_widget

ONE, TWO, THREE = (make_widget(number) for number in (1, 2, 3))
OTHER_VALUE = make_widget(1, params=(WidgetParam(name="symbol", current_value="MSFT"),))


def test_the_first_of_the_same_widget_with_the_same_values_stays():
    assert each_once([ONE, TWO, ONE, OTHER_VALUE, TWO]) == [ONE, TWO, OTHER_VALUE]


def test_a_widget_of_the_dashboard_that_is_among_all_widgets_counts_as_of_the_dashboard():
    many = tuple(make_widget(number) for number in range(3, 40))
    widgets = Widgets(primary=(ONE,), secondary=(ONE, TWO), extra=(TWO, *many))
    listed, others = listed_widgets(widgets.all(), query=make_query(widgets=widgets))
    assert listed[:2] == [ONE, TWO]
    assert (len(listed), others) == (22, 17)
