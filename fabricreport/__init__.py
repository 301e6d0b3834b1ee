"""`fabricreport`: InfiniBand or RoCEv2 for this GPU cluster? One params file in, one client-ready memo out."""

__version__ = "0.1.0"
