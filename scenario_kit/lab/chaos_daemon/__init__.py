"""The simulated chaos daemon: the real ``pb.ChaosDaemon`` contract, and a ledger of effects where a kernel would be."""

from scenario_kit.lab.chaos_daemon.endpoints import daemon_endpoints
from scenario_kit.lab.chaos_daemon.knobs import Knobs, Misbehaviour
from scenario_kit.lab.chaos_daemon.ledger import LedgerBook
from scenario_kit.lab.chaos_daemon.proto import Messages, load_messages
from scenario_kit.lab.chaos_daemon.server import ChaosDaemon, ServerTls

__all__ = [
    "ChaosDaemon", "Knobs", "LedgerBook", "Messages", "Misbehaviour", "ServerTls", "daemon_endpoints", "load_messages",
]  # fmt: skip
