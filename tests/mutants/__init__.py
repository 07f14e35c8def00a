"""Small changes of the product that its tests should notice; `make mutants` tries them.

`spots` says where the product may be changed, the operators how, `drawing` which of the changes are
tried. `measuring` finds the tests that run a line, `trial` runs them over a changed module, and
`report` tells what no test noticed. Nothing is written to the tree: an import hook puts the change
into a forked process.
"""
