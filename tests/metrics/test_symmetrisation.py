"""Word alignments of two directions, joined."""

import itertools

import numpy as np
import pytest

from zoo.metrics.alignment import read_pharaoh
from zoo.metrics.symmetrisation import Method, flip_links, symmetrise

# Three source and four target words; the directions agree on the corners.
FORWARD = {(0, 0), (1, 1), (1, 2), (2, 3)}
BACKWARD = {(0, 0), (0, 1), (2, 3)}
METHODS = ("intersection", "grow-diag", "grow-diag-final", "union")


def test_flipping_exchanges_the_sides() -> None:
    assert flip_links([(0, 3), (2, 1)]) == {(3, 0), (1, 2)}


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("intersection", {(0, 0), (2, 3)}),
        ("union", FORWARD | BACKWARD),
        # From (0, 0) grow (0, 1), the neighbour in the target, then (1, 1), whose source is free;
        # then (1, 2), whose target is.
        ("grow-diag", FORWARD | BACKWARD),
    ],
)
def test_by_hand(method: Method, expected: set) -> None:
    assert symmetrise(FORWARD, BACKWARD, method) == expected


def test_the_final_step_adds_links_far_from_all_others() -> None:
    forward, backward = {(0, 0), (4, 4), (4, 2)}, {(0, 0), (0, 6), (2, 4)}
    assert symmetrise(forward, backward, "grow-diag") == {(0, 0)}
    # (4, 4) and (4, 2) by order of the target: after (4, 2), target 4 is still free, and so is
    # source 2 and target 6 of the other direction.
    everything = forward | backward
    assert symmetrise(forward, backward, "grow-diag-final") == everything
    # Of (4, 4) the source, of (2, 4) nothing, and of (0, 6) the source has a link.
    assert symmetrise(forward, backward, "grow-diag-final-and") == {(0, 0), (4, 2), (2, 4)}


def test_a_neighbour_of_two_linked_words_is_not_added() -> None:
    forward, backward = {(0, 0), (1, 1), (0, 1)}, {(0, 0), (1, 1)}
    assert symmetrise(forward, backward, "grow-diag-final") == backward
    assert symmetrise(forward, backward, "union") == forward


def with_matrices(forward: set, backward: set, method: Method) -> set:
    """The published pseudo-code, on matrices of target and source words."""
    size = 6
    directions = []
    for links in (forward, backward):
        matrix = np.zeros((size, size), bool)
        for source, target in links:
            matrix[target, source] = True
        directions.append(matrix)
    union, aligned = directions[0] | directions[1], directions[0] & directions[1]
    steps = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    framed = np.pad(union, 1)  # beyond the sentences there is nothing
    for _ in range(size * size):  # more often than links can be added
        for e, f, (de, df) in itertools.product(range(size), range(size), steps):
            e_new, f_new = e + de, f + df
            if aligned[e, f] and framed[e_new + 1, f_new + 1]:
                free = not aligned[e_new].any() or not aligned[:, f_new].any()
                aligned[e_new, f_new] |= free
    for matrix in directions if method != "grow-diag" else ():
        for e, f in itertools.product(range(size), repeat=2):
            free = (not aligned[e].any(), not aligned[:, f].any())
            if matrix[e, f] and (all(free) if method.endswith("and") else any(free)):
                aligned[e, f] = True
    return {(f, e) for e, f in np.argwhere(aligned).tolist()}


@pytest.mark.parametrize("method", ["grow-diag", "grow-diag-final", "grow-diag-final-and"])
def test_growing_follows_the_pseudo_code(method: Method) -> None:
    differing = 0
    for seed in range(60):
        draw = np.random.default_rng(seed)
        forward = {(int(draw.integers(6)), j) for j in range(6)}
        backward = {(i, int(draw.integers(6))) for i in range(6)}
        found = symmetrise(forward, backward, method)
        assert found == with_matrices(forward, backward, method)
        assert forward & backward <= found <= forward | backward
        differing += found not in (forward & backward, forward | backward)
    assert differing > 30


def test_each_method_holds_the_links_of_those_before() -> None:
    for seed in range(50):
        draw = np.random.default_rng(seed)
        forward, backward = ({tuple(x) for x in draw.integers(5, size=(6, 2))} for _ in "ab")
        found = [symmetrise(forward, backward, method) for method in METHODS]
        assert all(few <= more for few, more in itertools.pairwise(found))


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match=r"method must be one of .*, got 'grow'"):
        symmetrise(FORWARD, BACKWARD, "grow")


@pytest.mark.parametrize("method", METHODS)
def test_directions_that_were_read_from_files(method: Method) -> None:
    forward, backward = read_pharaoh(["0-0 1-1 1p2 2-3", "0-0 0p1 2-3"])
    assert symmetrise(forward, backward, method) == symmetrise(FORWARD, BACKWARD, method)
    assert flip_links(backward) == {(0, 0), (1, 0), (3, 2)}
