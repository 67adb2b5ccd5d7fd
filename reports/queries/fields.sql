-- Titles and units of every column, the run and result schemas first.
select column_name, title, title_zh, unit
from meta.fields
order by "schema" <> 'run', table_name, column_name
