"""Returns, risk and rates of return of series; `series` and `measures` load pandas."""
