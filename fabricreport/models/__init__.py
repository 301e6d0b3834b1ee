"""The mathematics: pure functions over arrays, the draw axis first.

May not read files, packaged ones included, plot, print or use the clock.

May import: base.
"""
