"""Text that does not matter, from a seeded Faker: the same seed and key give the same text anywhere.

The only module that knows Faker, and it is imported only where a text was left out.
"""

from __future__ import annotations

import hashlib


def prompt(seed: int, key: str) -> str:
    """A user's message. `key` tells messages of one seed apart."""
    from faker.generator import Generator
    from faker.providers.lorem.en_US import Provider

    # One provider instead of Faker(): that loads dozens, for names and addresses nobody asked for.
    generator = Generator()
    generator.add_provider(Provider(generator))
    digest = hashlib.sha256(f"{seed} {key}".encode()).digest()
    generator.seed_instance(int.from_bytes(digest[:8], "big"))
    return f"Please look at this: {generator.format('sentence', nb_words=8)}"
