"""`fabricreport`: InfiniBand or RoCEv2 for this GPU cluster? One params file in, one client-ready memo out."""

__version__ = "0.1.0"


def load_ipython_extension(shell: object) -> None:
    """Prose cells for a notebook that says `%load_ext fabricreport`."""
    from fabricreport.blocks.say import load_magics

    load_magics(shell)
