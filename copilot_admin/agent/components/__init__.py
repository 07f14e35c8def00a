"""Components: the contract's base classes, the built-in ones, and how a call is run and shown."""
