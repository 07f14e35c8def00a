"""How dates are written, a package for each language, as Django looks for them."""
