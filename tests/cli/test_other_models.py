"""SavedModels of others on the command line."""

import tensorflow as tf


def test_the_command_line_refuses_them(zoo_command, tmp_path):
    summary = tf.function(
        lambda text: {"rows": tf.size(text), "same": text},
        input_signature=[tf.TensorSpec([None], tf.string, name="text")],
        autograph=False,
    )
    tf.saved_model.save(tf.Module(), str(tmp_path), signatures={"serving_default": summary})
    code, _ = zoo_command("run", str(tmp_path), "a text")
    assert code == (
        f"error: {tmp_path.name} does not answer example by example: rows has no axis of rows"
    )
