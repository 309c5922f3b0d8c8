"""EFA between the clients and a file system: where there is any, where it is advised, for how many clients."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gpufeed.facts import Facts
from gpufeed.model.fsx.types import Need
from gpufeed.model.recommendation import Reason
from gpufeed.model.rules import FSX

EFA_CONNECTIONS, EFA_IN_PARTS = "efa-connections", "fsx-efa-in-parts"


def efa_offered(region: str, facts: Facts) -> bool | None:
    """Whether a Region has FSx for Lustre over EFA; None where no source says."""
    return facts.regions[region].get_value("fsx_efa") if region in facts.regions else None


def efa_for_all(need: Need, facts: Facts) -> bool:
    """The clients can use EFA, and one file system takes a connection of each of them.

    References: fsx-efa-clients.
    """
    return need.efa and need.clients <= facts.options[FSX].known("efa_connections").value


def efa_advised(need: Need, facts: Facts) -> bool:
    """All clients can use EFA, and the rates are those it is recommended for (:func:`_efa_recommended`)."""
    return efa_for_all(need, facts) and _efa_recommended(need, facts)


def _efa_recommended(need: Need, facts: Facts) -> bool:
    """The rates are those AWS recommends EFA for, or more than the clients carry without it.  References: fsx-efa."""
    with_it, without = need.carried(efa=True), need.carried(efa=False)
    carries_more = with_it.read > without.read or with_it.write > without.write
    return carries_more or max(with_it.read, with_it.write) > facts.options[FSX].known("efa_above").value


def of_efa(need: Need, facts: Facts, *, efa: bool) -> Iterator[Reason]:
    """How the clients come to have no more EFA connections than one file system takes, with EFA or without it.

    Each EFA interface of a client is a connection.  Fewer of them can be configured on each, down to one; more clients
    than connections need several file systems.
    References: fsx-efa-clients.
    """
    most = round(facts.options[FSX].known("efa_connections").value)
    if not need.efa or not need.clients:
        return
    if not efa_for_all(need, facts):
        if efa or _efa_recommended(need, facts):
            said = {"clients": need.clients, "most": most, "file_systems": math.ceil(need.clients / most)}
            yield Reason("efa-clients" if efa else EFA_IN_PARTS, said, "fsx-efa-clients")
    elif efa and (connections := need.clients * need.efa_interfaces) > most:
        said = {"clients": need.clients, "connections": connections, "most": most}
        yield Reason(EFA_CONNECTIONS, {**said, "interfaces": most // need.clients}, "fsx-efa-clients")
