"""A server's process has threads for operations of several models, and keeps few kernels."""

import os
import subprocess
import sys

import pytest

from zoo.serving.load import resolve
from zoo.serving.process import prepare_process

NAME = "TF_NUM_INTEROP_THREADS"
KERNELS = "TF_ENABLE_ONEDNN_OPTS"
ARENAS = "MALLOC_ARENA_MAX"
COUNT_ARENAS = """
import ctypes, sys, threading
from zoo.serving.process import prepare_process
prepare_process([])
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
barrier = threading.Barrier(32)

def allocate():
    barrier.wait()
    assert library.malloc(100_000)
    barrier.wait()

threads = [threading.Thread(target=allocate) for _ in range(32)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
library.fdopen.restype = ctypes.c_void_p
library.malloc_info(0, ctypes.c_void_p(library.fdopen(1, b"w")))
library.fflush(None)
"""


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in (NAME, KERNELS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(ARENAS, "8")  # those of this process stay as they are


def test_operations_of_several_models_have_threads_even_on_two_processors(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    prepare_process([])
    assert os.environ[NAME] == "8"
    assert sys.getswitchinterval() < 0.002


def test_a_number_of_the_users_own_holds(monkeypatch):
    monkeypatch.setenv(NAME, "3")
    prepare_process([])
    assert os.environ[NAME] == "3"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["squad_dcn"], None),
        (["squad_dcn", "multi30k_transformer_en_de"], "0"),
        (["multi30k_rnnsearch_en_de"], "0"),
    ],
)
def test_kernels_are_not_kept_for_every_shape_where_a_model_searches(names, expected):
    prepare_process(map(resolve, names))
    assert os.environ.get(KERNELS) == expected


def test_kernels_of_the_users_own_choice_and_a_folder_without_a_card(monkeypatch, tmp_path):
    prepare_process([tmp_path])
    assert KERNELS not in os.environ
    monkeypatch.setenv(KERNELS, "1")
    prepare_process([resolve("multi30k_transformer_en_de")])
    assert os.environ[KERNELS] == "1"


@pytest.mark.parametrize(("own", "expected"), [(None, 4), ("6", 6)])
def test_many_threads_share_few_arenas(own, expected, monkeypatch):
    monkeypatch.delenv(ARENAS)
    if own:
        monkeypatch.setenv(ARENAS, own)
    child = subprocess.run(
        [sys.executable, "-c", COUNT_ARENAS], capture_output=True, text=True, check=True
    )
    assert child.stdout.count("<heap nr=") == expected
