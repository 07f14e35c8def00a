"""Any JSON, with keys like those that mark the parts of a value."""

from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "$blob", "$list", "$$x", "$"]), inner, max_size=4)
    ),
    max_leaves=12,
)
