select
    (select count(*) from record.runs) as runs,
    (select count(*) from record.citations) as citations,
    (select count(distinct url) from record.sources) as sources
