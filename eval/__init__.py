"""Beside the product: measurements and benchmarks."""
