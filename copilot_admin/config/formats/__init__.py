"""Date formats, one package per language, where Django looks for them."""
