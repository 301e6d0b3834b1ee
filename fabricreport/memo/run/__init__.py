"""Plan and execute the notebooks, each in a process of its own, with a record of the run."""
