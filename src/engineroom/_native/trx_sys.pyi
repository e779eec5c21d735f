"""
Sessions at the latches of the transaction system.
"""

import typing

__all__: list[str] = ["latch_steps"]

def latch_steps(
    config: dict[str, typing.Any] = {},
    *,
    parameters: dict[typing.Any, typing.Any] = {},
    seed: typing.SupportsInt | typing.SupportsIndex = 1,
    is_observed: bool = True,
) -> dict[typing.Any, typing.Any]:
    """
    One transaction of each session: a list of what happens to latches, each with the time, the session, the latch (0 trx_sys_mutex, 1 trx_sys_serialisation_mutex, from 2 on shards), the call that it is in and what it does; and how often the sessions took each kind.
    """
