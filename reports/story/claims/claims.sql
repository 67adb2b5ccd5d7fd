-- Each claim with its origin, its own test, and what the analysis found.
select
    claims.id as claim_id,
    claims.number,
    claims.topic,
    claims.statement_en,
    claims.statement_zh,
    claims.origin,
    claims.origin_url,
    claims.sql,
    claims.rule_en,
    claims.rule_zh,
    results.verdict,
    results.numbers,
    results.finding_en,
    results.finding_zh,
    results.would_change_en,
    results.would_change_zh
from record.claims as claims
left join result.claims as results on results.claim_id = claims.id
order by claims.number
