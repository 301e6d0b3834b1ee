"""The memo's sections, a room each: what it asks (`inputs`), finds (`study`, `result`), prints (`figures`, `facts`, `tables`) and draws (`charts`).

What another section finds is passed in; the decision stands above the others.

May import: base, ledger, blocks, models, books, validation, scenario, inputs.
"""
