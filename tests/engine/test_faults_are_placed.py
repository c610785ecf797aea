"""Each fault says which place of the request has it, and which scene it is about."""

import json

import msgspec
import pytest

from scenestore_engine.admit import Import, ImportedScene, admit
from scenestore_engine.commands import (
    AdvisoryMeta,
    Archive,
    Batch,
    Command,
    Consolidate,
    Create,
    Delete,
    Restore,
    Update,
    Write,
)
from scenestore_engine.decide import Rejected, decide
from scenestore_engine.faults import Fault, FaultCode, NoticeCode
from scenestore_engine.names import complaints
from scenestore_engine.policy import Policy
from scenestore_engine.state import Known, Membership, Meta, Scene, State
from scenestore_engine.strictjson import read
from scenestore_engine.wire import parse_batch
