"""Pure functions over arrays, the draw axis first. May not read files (but packaged constants), plot or use the clock."""
