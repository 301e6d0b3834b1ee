"""Logs of benchmarks, as clients and sellers send them."""
