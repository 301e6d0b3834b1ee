"""NCCL's collectives: times, parameters, fit."""
