"""What latency costs: collectives, steps, exposed communication."""
