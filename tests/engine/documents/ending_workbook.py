"""Ends as the process that reads a workbook may end: with the code that it is given as a file."""

import sys

if __name__ == "__main__":
    sys.exit(int(sys.stdin.read()))
