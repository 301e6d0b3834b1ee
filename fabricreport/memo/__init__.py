"""From notebooks to a published memo: execute, stitch, check, render, publish. Knows nothing about networks."""
