"""The history. The only package that knows git; its words are ours.

Source:
    CONTRACT section 7.
"""

from scenestore.ledger.history import Ledger, Revision, Wish
from scenestore.ledger.objects import Change
from scenestore.ledger.sets import Sets

__all__ = ["Change", "Ledger", "Revision", "Sets", "Wish"]
