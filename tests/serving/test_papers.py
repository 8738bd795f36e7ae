"""Every published architecture names its paper."""

from tests.published import published
from zoo.serving.papers import papers_of


def test_every_published_model_has_a_paper():
    found = {name: papers_of(name) for name in published()}
    assert all(found.values()), found
    for papers in found.values():
        assert all(paper.link.startswith("https://arxiv.org/abs/") for paper in papers)


def test_a_registered_name_is_found_and_another_class_has_none():
    assert papers_of("zoo>Transformer") == papers_of("Transformer")
    assert papers_of("mine>Reader") == []
