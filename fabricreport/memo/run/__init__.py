"""Plan and execute the notebooks, with a record of the run."""
