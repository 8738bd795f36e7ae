"""Files of one's own: books and questions, read before a run folder is opened."""

import logging
from types import SimpleNamespace

import pytest

import recipes.cloze as cloze
from zoo.data.cloze_format import SENTENCES, Question, questions_frame, write_cbt
from zoo.tasks.cloze.own import cut_otherwise, read_questions

PLAIN = Question(
    "\n".join(["Ada saw Bo 's cat ."] * SENTENCES), "XXXXX sat .", "Ada", ["Ada", "Bo"]
)
GLUED = PLAIN._replace(document=PLAIN.document.replace("Bo 's cat .", "Bo's cat.", 1))


def test_a_book_that_is_cut_off_is_named_with_its_line(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text("By Ada\n*** START OF THE PROJECT GUTENBERG EBOOK ***\nShe went.\n")
    with pytest.raises(ValueError, match=r"book\.txt, line 2: .* must alternate, got no END line"):
        read_questions([path], "ne", questions=False)


def test_questions_that_the_exported_model_cuts_into_other_tokens_are_counted():
    asked = PLAIN._replace(query="XXXXX doesn't sit .")
    merged = PLAIN._replace(query="It was Mr . XXXXX .")
    listed = PLAIN._replace(candidates=["Ada", "A."])  # the endpoint takes candidates as they are
    assert cut_otherwise(questions_frame([PLAIN, listed])) == (0, "")
    found = cut_otherwise(questions_frame([PLAIN, GLUED, asked, merged]))
    assert found == (3, '"Bo\'s cat.", read as "Bo \'s cat"')
    assert cut_otherwise(questions_frame([asked]))[1] == '"doesn\'t sit", read as "does n\'t sit"'
    assert cut_otherwise(questions_frame([merged]))[1] == "'Mr .', read as 'Mr. XXXXX .'"


@pytest.mark.parametrize("glued", [False, True])
def test_log_and_record_tell_of_other_tokens(glued, tmp_path, caplog):
    path, other = tmp_path / "q.txt", tmp_path / "other.txt"
    questions = [PLAIN, GLUED if glued else PLAIN] * 3
    write_cbt(path, questions)
    write_cbt(other, [PLAIN, *questions])
    settings = cloze.Settings(train=(path,), validation=(other,), questions=True)
    task = cloze.OwnClozeTask("cloze", cloze.make_model, cloze.DEFAULTS)
    task.settings = task.resolve(settings)
    task.folder = SimpleNamespace(logger=logging.getLogger(__name__))
    record = task.load()
    told = "the exported model cuts the texts of 6 questions into other tokens"
    assert record.remarks == (told if glued else "")
    warnings = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    first = '"Bo\'s cat.", read as "Bo \'s cat"'
    assert warnings == ([f"{told} than spaces do; the first: {first}"] if glued else [])
