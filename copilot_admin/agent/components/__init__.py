"""Components: base classes of the contract, built-in components, and their execution."""
