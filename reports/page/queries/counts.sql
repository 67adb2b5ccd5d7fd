select
    (select count(*) from record.runs) as runs,
    (select count(value) from record.citations) as citations,
    (select count(distinct url) from record.sources) as sources
