"""Sessions that are known by a word in their prompts: those of a service that cannot be handed a key."""

from __future__ import annotations

import hashlib
import re
from collections import deque

from .session import Session

_TOKEN = re.compile(rb"lh-[0-9a-f]{10}")
_PREVIOUS = re.compile(rb'"previous_message_id"\s*:\s*"(\w+)"')
MOST_RETIRED = 10_000
"""Tokens of earlier sessions that are not taken for those of another."""


def token_of(conversation: str) -> str:
    """The token of a conversation. It is plain, so that it survives whatever a prompt goes through."""
    return f"lh-{hashlib.blake2b(conversation.encode(), digest_size=5).hexdigest()}"


class Tokens:
    """Finds the session of a request by a token in its body, or by the reply that it continues."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._retired: deque[str] = deque(maxlen=MOST_RETIRED)
        self.known = False
        """Whether there was ever one: mostly there is none, and nothing to look for."""

    def add(self, session: Session) -> None:
        """Find this session by its token, if it has one."""
        if session.token:
            self.known = True
            self._sessions[session.token] = session

    def retire(self, session: Session) -> None:
        """Its requests come too late from now on."""
        if self._sessions.pop(session.token, None):
            self._retired.append(session.token)

    def last_in(self, body: bytes) -> str:
        """The last token of a session in a body. A conversation may quote an older one."""
        found = [token.decode() for token in _TOKEN.findall(body)]
        opened = [token for token in found if token in self._sessions]
        late = [token for token in found if token in self._retired]
        return next(iter((*reversed(opened), *reversed(late))), "")

    def find(self, body: bytes) -> tuple[bool, Session | None]:
        """Whether a body says whose it is, and the session, where that is open."""
        if token := self.last_in(body):
            return True, self._sessions.get(token)
        if thread := _PREVIOUS.search(body):
            known = (one for one in self._sessions.values() if one.threads.knows(thread[1].decode()))
            if (session := next(known, None)) is not None:
                return True, session
        return False, None
