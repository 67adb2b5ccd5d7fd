-- One row per column of the views, record tables and result tables: where it stands and how it is described.
with described as (
    select schema_name as schema, table_name, comment from duckdb_tables()
    union all
    select schema_name as schema, view_name as table_name, comment from duckdb_views() where not internal
),

placed as (
    select schema_name as schema, table_name, column_name, column_index from duckdb_columns() where not internal
)

select
    fields.schema,
    fields.table_name,
    described.comment,
    fields.column_name,
    fields.type,
    fields.unit,
    fields.title,
    fields.title_zh,
    fields.description,
    fields.level
from meta.fields as fields
join described using (schema, table_name)
join placed using (schema, table_name, column_name)
where fields.schema in ('main', 'record', 'result')
order by list_position(['main', 'record', 'result'], fields.schema), fields.table_name, placed.column_index
