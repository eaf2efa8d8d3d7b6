"""Gradwire's own models, by id, with PyTorch's operations.

A model computes the objective of a batch from its parameters by name. Names, shapes and meaning
are those of the agent's definitions (src/agent/training/models), which also make first weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ..opened import Tensors
from .dlrm import dlrm
from .fnn import fnn
from .layered import Layered, whole
from .linear import hinge, logistic
from .lstm import lstm
from .norms import Norms
from .objective import Objective
from .resnet import resnet
from .transformer import language_model, translator
from .vgg import vgg

Model = Callable[[Tensors, Tensors, Norms], Objective]

LAYERED: Mapping[str, Layered] = {
    "fnn3": fnn,
    "transformer-small": language_model(heads=4, norm_first=True),
    "dlrm": dlrm,
    "dlrm-small": dlrm,
}
"""Models that a pipeline may split."""

MODELS: Mapping[str, Model] = {
    **{name: whole(model) for name, model in LAYERED.items()},
    "lstm-small": lstm,
    "lstm-ptb": lstm,
    "logistic-regression": logistic,
    "linear-svm": hinge,
    "transformer-seq2seq": partial(translator, heads=4, norm_first=True),
    "transformer-iwslt": partial(translator, heads=4, norm_first=False),
    "resnet-18": resnet,
    "resnet-20": resnet,
    "resnet-110": resnet,
    "vgg-16": vgg,
}
