import random

import numpy as np
import pytest

from ingestion.near_copies import NearCopies, minhash


def words(count: int, seed: int) -> list[str]:
    generator = random.Random(seed)
    return [f"w{generator.randrange(10**6)}" for _ in range(count)]


@pytest.mark.parametrize("changed", [20, 100, 300])
def test_equal_places_in_signatures_estimate_the_shingles_in_common(changed: int) -> None:
    base = words(1000, seed=1)
    other = [*base[: 1000 - changed], *words(changed, seed=2)]
    # all words differ, so of 996 shingles each has, 1000 - changed - 4 are shared
    shared = 1000 - changed - 4
    jaccard = shared / (2 * 996 - shared)

    first, second = (np.frombuffer(minhash(" ".join(text)), "<u4") for text in (base, other))

    assert len(first) == 128
    # four standard errors of a share of 128
    assert abs((first == second).mean() - jaccard) < 4 * (jaccard * (1 - jaccard) / 128) ** 0.5


def test_case_punctuation_and_order_of_repeats_do_not_matter() -> None:
    text = " ".join(words(100, seed=3))

    assert minhash(text) == minhash(text.upper().replace(" ", ",\n"))


def test_texts_too_short_to_tell_have_no_signature_and_no_near_copy() -> None:
    assert minhash("Asphalt is laid hot, and gravel cold.") == minhash("") == b""
    known = NearCopies([("a", minhash(""))])
    assert known.nearest("b", minhash("")) is None


def test_the_nearest_other_document_is_found_among_many() -> None:
    base = words(400, seed=4)
    known = NearCopies((str(n), minhash(" ".join(words(400, seed=n)))) for n in range(100, 300))
    known.add("near", minhash(" ".join([*base[:-8], *words(8, seed=5)])))
    known.add("nearer", minhash(" ".join([*base[:-2], *words(2, seed=6)])))
    signature = minhash(" ".join(base))
    known.add("itself", signature)

    found = known.nearest("itself", signature)

    assert found is not None
    assert found.uri == "nearer"
    assert found.similarity > 0.9


def test_a_new_version_takes_the_place_of_the_old_one() -> None:
    old, new = (minhash(" ".join(words(100, seed=n))) for n in (7, 8))
    known = NearCopies([("a", old)])
    known.add("a", new)

    assert known.nearest("b", old) is None
    assert known.nearest("b", new) is not None
