"""The one exception of the importers: a sentence for the person who passed the file."""


class ImporterError(ValueError):
    """A file cannot be read as a config or log; the message is one sentence with a way out."""
