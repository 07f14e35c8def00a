"""Small changes of the product that its tests should notice; `make mutants` tries them.

`spots` says where the product may be changed, the operators how, `drawing` which of the changes are
tried. `measuring` finds the tests that run a line, and `report` tells what none of them noticed.
Nothing is written to the tree. A change of functions is put into a fork of a process that has
collected the tests (`host`, `swapping`); any other needs one that imports the module anew (`trial`).
"""
