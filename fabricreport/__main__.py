"""`python -m fabricreport` is the command line."""

from fabricreport.cli.entry import run

if __name__ == "__main__":
    run()
