"""Sources of model answers: one class in one file each; `registry` finds them."""
