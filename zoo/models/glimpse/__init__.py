"""Recurrent attention: a network that sees an image only through a small retina, and aims it.

Mnih, Heess, Graves, Kavukcuoglu: Recurrent Models of Visual Attention. NIPS 2014,
arXiv 1406.6247.

A convolutional network computes more, the larger the image. Here a glimpse costs the same whatever
the size of the image: the retina sees a few pixels sharply and their surroundings coarsely, and
from what it has seen so far the network decides where to look next. That decision has no gradient;
it is learned by reinforcement, from whether the class was right in the end. Only the map of the
glimpses, one number a pixel and glimpse, grows with the image; ``look`` leaves it out.

Read in this order:
    retina.py               the glimpse sensor rho: patches of growing size around a location, for
                            the whole batch in one gather
    glimpse_network.py      what was seen and where, in one vector
    location_policy.py      where to look next: means, samples, their log-density
    recurrent_attention.py  the model and its hybrid loss

NumPy reference: ``tests/references/recurrent_attention.py``. Page:
``docs/architectures/glimpse.md``. Recipe: ``recipes/mnist_glimpse.py``.
"""

from zoo.models.glimpse.recurrent_attention import RecurrentAttentionModel

__all__ = ["RecurrentAttentionModel"]
