"""Data sets of the right shape: the bytes are random, the same each time. What a program
keeps, copies and allocates does not depend on what the pictures show."""

import random
import struct
from pathlib import Path

MNIST = [("train-images-idx3-ubyte", "train-labels-idx1-ubyte", 60000),
         ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", 10000)]
CIFAR10 = [f"data_batch_{number}.bin" for number in range(1, 6)] + ["test_batch.bin"]


def labels(source: random.Random, count: int) -> bytes:
    return bytes(byte % 10 for byte in source.randbytes(count))


def mnist(folder: Path) -> None:
    source = random.Random(1)
    for images, names, count in MNIST:
        (folder / images).write_bytes(struct.pack(">4i", 2051, count, 28, 28)
                                      + source.randbytes(count * 28 * 28))
        (folder / names).write_bytes(struct.pack(">2i", 2049, count) + labels(source, count))


def cifar10(folder: Path) -> None:
    source = random.Random(1)
    for name in CIFAR10:
        with (folder / name).open("wb") as file:
            for label in labels(source, 10000):
                file.write(bytes([label]) + source.randbytes(3 * 32 * 32))


def make(kind: str, folder: Path) -> None:
    if folder.exists():
        return
    folder.mkdir(parents=True)
    {"mnist": mnist, "cifar10": cifar10}[kind](folder)
