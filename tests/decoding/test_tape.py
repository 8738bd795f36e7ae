"""Hypotheses read back from a tape that was written by hand."""

import numpy as np
import tensorflow as tf

from zoo.decoding.tape import blank_tape, longest_of, read_back

# One sentence, two slots. Step 1 writes 4 | 5; step 2 continues slot 1 twice: 6 | 3; step 3
# continues slot 0 with 8 and slot 1, which has ended, with what nobody reads.
TOKENS = [[4, 5], [6, 3], [8, 9]]
PARENTS = [[0, 0], [1, 1], [0, 1]]


def tape(steps=4):
    written = blank_tape(tf.constant(1), 2, tf.constant(1), tf.constant(steps))
    for step, (tokens, parents) in enumerate(zip(TOKENS, PARENTS, strict=True), 1):
        weights = tf.constant([[[10.0 * step], [10.0 * step + 1]]])
        written = written.write(
            tf.constant(step), tf.constant([tokens]), tf.constant([parents]), weights
        )
    return written


def test_parents_lead_back_to_the_first_token():
    slots, lengths = tf.constant([[0, 1, 0, 1]]), tf.constant([[3, 2, 1, 0]])
    tokens, alignment = read_back(tape(), slots, lengths)
    assert tokens.numpy().tolist() == [[[5, 6, 8], [5, 3, 0], [4, 0, 0], [0, 0, 0]]]
    assert alignment.numpy()[0, :, :, 0].tolist() == [
        [11, 20, 30],
        [11, 21, 0],
        [10, 0, 0],
        [0, 0, 0],
    ]


def test_it_is_cut_to_the_longest_that_is_read():
    tokens, alignment = read_back(tape(50), tf.constant([[1]]), tf.constant([[2]]))
    assert tokens.numpy().tolist() == [[[5, 3]]]
    assert alignment.shape == (1, 1, 2, 1)


def test_nothing_written_is_nothing_read():
    blank = blank_tape(tf.constant(2), 3, tf.constant(5), tf.constant(0))
    zeros = tf.zeros((2, 1), tf.int32)
    tokens, alignment = read_back(blank, zeros, zeros)
    assert tokens.shape == (2, 1, 0)
    assert alignment.shape == (2, 1, 0, 5)
    assert longest_of(np.zeros((0, 3), "int32")) == 0
