"""A small GPT on a text, trained by Hugging Face's Trainer, joined to Gradwire.

    gradwire exec --ranks 2 -- python3 gpt_trainer.py tinyshakespeare.txt

It needs: pip install transformers accelerate. The model knows the characters of the text, and
nothing is downloaded.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

from gradwire.huggingface import GradwireCallback


class Characters(Dataset):
    """Windows of a text; each of them predicts its next characters."""

    def __init__(self, text: str, window: int) -> None:
        self.known = sorted(set(text))
        numbers = {character: number for number, character in enumerate(self.known)}
        self.codes = torch.tensor([numbers[character] for character in text])
        self.window = window

    def __len__(self) -> int:
        return len(self.codes) // self.window

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        window = self.codes[index * self.window :][: self.window]
        return {"input_ids": window, "labels": window}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--batch", type=int, default=8, help="windows a rank and step")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    options = parser.parse_args()

    data = Characters(options.text.read_text(encoding="utf-8"), window=64)
    torch.manual_seed(1)
    shape = {"n_embd": options.width, "n_layer": options.layers, "n_head": 4}
    config = GPT2Config(vocab_size=len(data.known), n_positions=data.window, **shape)
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        max_steps=options.steps,
        per_device_train_batch_size=options.batch,
        learning_rate=1e-3,
        logging_steps=10,
        save_strategy="no",
        report_to=[],
        use_cpu=not torch.cuda.is_available(),
        disable_tqdm=True,
    )
    trainer = Trainer(GPT2LMHeadModel(config), arguments, train_dataset=data)
    trainer.add_callback(GradwireCallback(trainer))
    trainer.train()
    weights = torch.cat([one.detach().flatten().cpu() for one in trainer.model.parameters()])
    print(f"weights {hashlib.sha256(weights.numpy().tobytes()).hexdigest()}", flush=True)


if __name__ == "__main__":
    main()
