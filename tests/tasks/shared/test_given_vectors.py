"""Word vectors in the record of the data that a model begins with."""

from pathlib import Path

from zoo.data.download import file_sha256
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.given_vectors import record_with_vectors


def test_vectors_that_are_called_like_a_file_of_the_data_have_a_checksum_beside_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "train.txt"
    path.write_text("the 1 2\n")
    plain = record_with_vectors(DataRecord("set", "train", "test", {"other": "a"}), path)
    assert plain.sha256 == {"other": "a", "train.txt": file_sha256(path)}
    assert plain.remarks == "word vectors: train.txt"
    taken = {"train.txt": "a", "vectors/train.txt": "b"}
    found = record_with_vectors(DataRecord("set", "train", "test", taken), path).sha256
    assert found == taken | {"vectors/vectors/train.txt": file_sha256(path)}
