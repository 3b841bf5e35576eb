"""Text that does not matter, from a seeded Faker: the same seed and key give the same text anywhere.

The only module that knows Faker, and it is imported only where a text was left out or has to be replaced.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from random import Random
from typing import Any, TypeAlias

SHORT = 2
"""Letters or digits up to which a word or a number tells nothing about anybody."""

_RUN = re.compile(r"[^\W_]+")
_NUMBERS = re.compile(
    r"(?<!\w)\+?\d(?:[\s().:/-]{0,2}\d){6,}(?!\w)|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])"
)
"""Numbers in several groups, such as those of telephones, cards and machines."""
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")

Find: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]
"""Says where something is in a text: beginnings and ends."""
_KEPT = frozenset(
    {"http", "https", "www", "com", "org", "net", "html", "json", "true", "false", "null", "none"}
)
_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnprstvwz"


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


def personal(text: str) -> Iterator[tuple[int, int]]:
    """Where a text tells who somebody is, as far as the shape gives it away: names have none."""
    for pattern in (_ADDRESS, _NUMBERS):
        yield from (found.span() for found in pattern.finditer(text))


@cache
def _words() -> dict[int, list[str]]:
    """Faker's words by their length."""
    from faker.providers.lorem.en_US import Provider

    found: dict[int, list[str]] = defaultdict(list)
    for word in sorted(set(Provider.word_list)):
        if word.isascii() and word.isalpha() and word not in _KEPT:
            found[len(word)].append(word.lower())
    return found


class Disguise:
    """Replaces text by text of the same length and shape: word by word, digit by digit.

    The same word becomes the same word wherever it stands, and two different ones never become the same, so
    that what was equal stays equal and what differed goes on to differ. With `only`, just what it finds is
    replaced, and texts under keys that fit `secret`.
    """

    def __init__(
        self,
        seed: int,
        only: Find | None = None,
        secret: re.Pattern[str] | None = None,
    ) -> None:
        self._seed = seed
        self._only = only
        self._secret = secret
        self._known: dict[tuple[int, str], str] = {}
        self._given: set[tuple[int, str]] = {(0, word) for word in _KEPT}

    def text(self, text: str) -> str:
        """`text` in other words."""
        if self._only is None:
            return self.all_of(text)
        parts, place = [], 0
        for start, end in sorted(self._only(text)):
            if end > place:
                begin = max(start, place)
                parts += [text[place:begin], self.all_of(text[begin:end], short=0)]
                place = end
        return "".join([*parts, text[place:]])

    def all_of(self, text: str, salt: int = 0, short: int = SHORT) -> str:
        """All of `text` in other words, other ones for each `salt`."""
        text = _NUMBERS.sub(lambda found: self._digits(found[0], salt), text)
        return _RUN.sub(lambda found: self._run(found[0], salt, short), text)

    def value(self, value: Any) -> Any:
        """A value of JSON with all its texts and longer numbers replaced, keys kept."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self._field(key, each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return value
        return self._number(value)

    def _field(self, key: str, value: Any) -> Any:
        if isinstance(value, str) and self._secret is not None and self._secret.fullmatch(key):
            return self.all_of(value, short=0)
        return self.value(value)

    def _number(self, value: Any) -> Any:
        parts = [self.text(part) for part in str(value).split(".")]
        if not all(part.removeprefix("-").isdecimal() for part in parts):
            return value  # with an exponent
        return float(".".join(parts)) if isinstance(value, float) else int(parts[0])

    def sentence(self, key: str) -> str:
        """A sentence that nobody has said; `key` tells sentences apart."""
        rng = _random(self._seed, key)
        return f"{' '.join(rng.choice(_words()[rng.randint(4, 8)]) for _ in range(6)).capitalize()}."

    def opaque(self, like: str, most: int = 40) -> str:
        """Something that nobody reads, such as a signature: base64, no longer than needed to be one."""
        rng = _random(self._seed, like)
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        return "".join(rng.choices(alphabet, k=min(len(like), most) // 4 * 4))

    def _digits(self, text: str, salt: int) -> str:
        rng = _random(self._seed, salt, text)
        return re.sub(r"\d", lambda _: str(rng.randint(1, 9)), text)

    def _run(self, run: str, salt: int, short: int) -> str:
        if len(run) <= short or run.lower() in _KEPT:
            return run
        lower = run.lower() if run.isalpha() and len(run.lower()) == len(run) else run
        key = (salt, lower)
        if key not in self._known:
            self._known[key] = self._another(lower, salt)
        return _in_case_of(run, self._known[key]) if lower != run else self._known[key]

    def _another(self, run: str, salt: int) -> str:
        rng = _random(self._seed, salt, run)
        for attempt in range(1000):
            found = _like(run, rng, plain=attempt < 20)  # the words of one length may all be taken
            if found != run and (salt, found) not in self._given:
                self._given.add((salt, found))
                return found
        return run


def _random(*key: object) -> Random:
    return Random(" ".join(map(str, key)))  # noqa: S311 - nothing secret is made of it


def _like(run: str, rng: Random, *, plain: bool) -> str:
    """Something of the same length and the same kinds of characters."""
    if run.isdecimal() and run.isascii():
        return str(rng.randint(1, 9)) + "".join(str(rng.randint(0, 9)) for _ in run[1:])
    if plain and run.isascii() and run.isalpha() and run.islower():
        return _of_words(len(run), rng)
    return "".join(_character(each, rng) for each in run)


def _of_words(length: int, rng: Random) -> str:
    words = _words()
    if words.get(length):
        return rng.choice(words[length])
    found = ""
    while len(found) < length:
        rest = length - len(found)
        found += rng.choice(words[min(rest, 7)] if rest > 2 else ["e"])
    return found[:length]


def _character(each: str, rng: Random) -> str:
    if each.isascii():
        if each.isdecimal():
            return str(rng.randint(0, 9))
        letter = rng.choice(_VOWELS if each.lower() in _VOWELS else _CONSONANTS)
        return letter.upper() if each.isupper() else letter
    kind, block = unicodedata.category(each), ord(each) & ~0xF
    return rng.choice(
        [chr(code) for code in range(block, block + 16) if unicodedata.category(chr(code)) == kind]
    )


def _in_case_of(run: str, word: str) -> str:
    if run.isupper():
        return word.upper()
    if run[0].isupper() and run[1:].islower():
        return word.capitalize()
    return "".join(to.upper() if each.isupper() else to for each, to in zip(run, word, strict=True))
