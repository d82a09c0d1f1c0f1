"""Two ends of the link side by side: what one sends, the other is handed."""

from __future__ import annotations

from link_ports import FaultyLink
from motecrypt.link.native import CONFIRMED, GATEWAY, LISTENS, LONG, SHORT, Event, KeyBlock, Suite

KEY = bytes(range(16))
READING = b"21.4 C"
SLOTS_AT, SLOT_BYTES, SLOTS = 28, 20, 8
TAKEN = (Event.MESSAGE, Event.COMMANDED)


class Pair:
    """A node and its gateway, provisioned with the same keys, with the packets between them."""

    def __init__(
        self,
        *defines: str,
        suite: Suite = "aes128-ccm",
        options: int = SHORT | LISTENS,
        packet_bytes: int = 32,
    ) -> None:
        self.defines, self.suite, self.packet_bytes = defines, suite, packet_bytes
        self.node = self.end(options)
        self.gateway = self.end(options | GATEWAY)
        self.now = 0

    def end(self, options: int, node: int = 5, key: bytes = KEY, generation: int = 1) -> FaultyLink:
        """One more end."""
        made = FaultyLink(self.suite, *self.defines)
        made.provision(KeyBlock(node, options, self.packet_bytes, generation, key))
        assert made.begin() == Event.NOTHING
        return made

    def deliver(self, sender: FaultyLink, receiver: FaultyLink, taken: bool = True) -> list[Event]:
        """Carry what the sender has sent, and the answers back: returns the events of both."""
        told = []
        for packet in sender.packets():
            event = receiver.receive(packet)
            told.append(event)
            if event in TAKEN:
                receiver.answer(taken)
        told += [sender.receive(packet) for packet in receiver.packets()]
        return [event for event in told if event != Event.NOTHING]

    def in_step(self) -> None:
        """Both directions have had an answered long message."""
        for sender, receiver in ((self.node, self.gateway), (self.gateway, self.node)):
            assert sender.send(b"", CONFIRMED | LONG) == Event.WAITING
            assert self.deliver(sender, receiver) == [Event.MESSAGE, Event.ACCEPTED]

    def give_up(self, sender: FaultyLink) -> None:
        """Nothing is answered until the sender gives up."""
        for _ in range(20):
            self.now += 1000
            if sender.poll(self.now) == Event.UNCONFIRMED:
                return
        raise AssertionError("the sender goes on for ever")
