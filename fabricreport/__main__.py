"""`python -m fabricreport` is the command line."""

from fabricreport.command import run

if __name__ == "__main__":
    run()
