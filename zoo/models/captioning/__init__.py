"""Show, attend and tell: captions of images, written while looking at one part after another.

Xu, Ba, Kiros, Cho, Courville, Salakhutdinov, Zemel, Bengio: Show, Attend and Tell: Neural Image
Caption Generation with Visual Attention. ICML 2015, arXiv 1502.03044.

A convolutional network describes each cell of a grid over the image by a vector. Before each word
an LSTM scores all cells against its state. Soft attention reads their weighted mean; hard attention
reads a single cell, drawn at random, which has no gradient and is learned by reinforcement. The
weights, laid over the image, show where the model looked for each word.

Read in this order:
    show_attend_tell.py   the model: first state, attention, LSTM, deep output (sections 3 and 4)
    deep_output.py        the logits of the next word (equation 7)
    caption_training.py   the loss, and the moving baseline of hard attention (section 4.1)
    attention_losses.py   its terms that act on the weights: doubly stochastic attention (section
                          4.2.1), entropy and score function of hard attention
    pixel_captioner.py    the same on pixels, with a small encoder that is trained with it

NumPy references: ``tests/references/show_attend_tell.py`` and ``pixel_captioner.py`` beside it.
Page: ``docs/architectures/captioning.md``. Recipe: ``recipes/flickr8k_caption.py``.
"""

from zoo.models.captioning.pixel_captioner import PixelCaptioner
from zoo.models.captioning.show_attend_tell import ShowAttendTell

__all__ = ["PixelCaptioner", "ShowAttendTell"]
