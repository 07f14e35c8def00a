"""Files as text for a model: one file for each format; `registry` finds them."""
