select
    (select count(*) from record.runs) as runs,
    (select count(value) from record.citations) as citations,
    (select count(distinct run_id) from layout_map) as layouts,
    (select count(distinct url) from record.sources) as sources
