"""`python -m fabricreport` is the command line."""

from fabricreport.cli import run

run()
