"""Files of one's own: books and questions, read before a run folder is opened."""

import pytest

from zoo.tasks.cloze.own import read_questions


def test_a_book_that_is_cut_off_is_named_with_its_line(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text("By Ada\n*** START OF THE PROJECT GUTENBERG EBOOK ***\nShe went.\n")
    with pytest.raises(ValueError, match=r"book\.txt, line 2: .* must alternate, got no END line"):
        read_questions([path], "ne", questions=False)
