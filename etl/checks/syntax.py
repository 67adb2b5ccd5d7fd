"""Syntax rules: decided by the reader in `etl.yaml.reader`, named here."""

from __future__ import annotations

from etl.checks.registry import declare

declare("YAM001", "not-utf8", "A record is UTF-8 text.")
declare("YAM002", "byte-order-mark", "A record has no byte order mark.")
declare("YAM003", "crlf", "Lines end in LF.")
declare("YAM004", "control-character", "A record must not contain control characters or unusual line ends.")
declare("YAM005", "tab", "Indentation and text use spaces, not tabs.")
declare("YAM006", "too-large", "A record has at most 100,000 bytes, a table of rows beside it 2,000,000.")
declare("YAM007", "empty", "A record is not empty.")
declare("YAM008", "not-yaml", "A record is YAML: brackets and quotes close, indentation lines up.")
declare("YAM009", "anchor", "Anchors and aliases are not allowed: write each value out.")
declare("YAM010", "tag", "Tags are not used: the schema gives the types.")
declare("YAM011", "key-twice", "A key must not appear twice in a mapping.")
declare("YAM012", "not-finite", "Numbers are finite: no .nan, no .inf.")
declare("YAM013", "too-deep", "Values are nested at most 12 deep.")
declare("YAM014", "second-document", "A file holds one record, without '---' and '%' lines.")
declare("YAM015", "no-value", "Every key has a value; what is not known is left out.")
declare("YAM016", "key-not-text", "Keys are single words of text.")
declare("YAM017", "link-out-of-data", "Records are files in data/, not links to other places.")
declare("YAM018", "unreadable", "Every file can be read.")
declare("CSV001", "column-name", "Every column of a table of rows has the name of one field, once.")
declare("CSV002", "cells-of-a-row", "A row is one line with as many cells as the header.")
declare("CSV003", "number-not-finite", "Numbers in a table of rows are finite.")
declare("CSV004", "rows-twice", "Rows are given in the record or in the CSV file beside it, not in both.")
declare("YAM019", "cut-off", "The last line ends in a line end; a file that does not may be cut off.")
