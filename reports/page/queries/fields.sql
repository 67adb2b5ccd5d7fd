-- Titles and units of every column; where several tables share a name, the one described in both languages wins.
select column_name, title, title_zh, unit
from meta.fields
order by
    coalesce(title_zh, '') = '' or title_zh = title,
    list_position(['main', 'record', 'result', 'meta'], "schema"),
    table_name,
    column_name
