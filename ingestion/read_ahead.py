"""Reads files ahead of their use, a few at a time, and gives the results in the files' order."""

from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

from graph.model import FileOutcome
from ingestion.prepare import Plan, Prepared, Task, prepare
from ingestion.read import Reader


def read_ahead(
    tasks: Iterable[Task], plan: Plan, jobs: int
) -> Generator[Prepared | FileOutcome, None, None]:
    """Prepare files in threads of their own, each with a reading process.

    At most `jobs` + 1 results are waiting at any time. Closing the generator ends the processes.

    Args:
        tasks: What to read.
        plan: How.
        jobs: Files read at the same time.

    Yields:
        One result for each task, in their order.
    """
    readers = [Reader(plan.limits) for _ in range(jobs)]
    idle: SimpleQueue[Reader] = SimpleQueue()
    for reader in readers:
        idle.put(reader)

    def run(task: Task) -> Prepared | FileOutcome:
        reader = idle.get()
        try:
            return prepare(task, plan, reader)
        finally:
            idle.put(reader)

    pool = ThreadPoolExecutor(jobs, thread_name_prefix="read")
    waiting: deque[Future[Prepared | FileOutcome]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(run, task))
            if len(waiting) > jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for reader in readers:
            reader.interrupt()  # a file may take its whole time limit, and nobody waits for it now
        pool.shutdown(cancel_futures=True)
        for reader in readers:
            reader.close()
