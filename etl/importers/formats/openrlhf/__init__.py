"""OpenRLHF launch scripts."""

from etl.importers.format import Format

FORMATS = (Format("openrlhf_sh", ("shell",), "batches, devices of the actor, sharding stage", "architecture"),)
