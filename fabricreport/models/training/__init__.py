"""Steps of training, inference and simulation."""
