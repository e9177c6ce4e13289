"""Torch for fitting topics: seeded, and on one thread."""

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def seeded_thread(seed: int) -> Generator[None]:
    """Seed torch and let it compute on one thread; afterwards all is as before.

    Threads make sums differ in their last digits from run to run. On a machine that is busy they
    also wait for each other at each of many small steps: ten times slower where it was measured.
    """
    import torch

    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
