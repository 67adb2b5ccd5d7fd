"""MLPerf training submissions: launch files, settings, systems, result logs."""

from etl.importers.format import Format

FORMATS = (
    Format("mlperf_json", ("json",), "devices of a system", "everything about the model"),
    Format("mlperf_sh", ("shell",), "layout, batch, devices", "most of the architecture"),
    Format(
        "mlperf_yaml", ("yaml",), "layout and batch with the launcher's variables", "devices without those variables"
    ),
)
