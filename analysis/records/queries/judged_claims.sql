-- Every claim with its verdict.
select
    claims.number,
    claims.topic,
    claims.statement_en,
    claims.statement_zh,
    found.verdict,
    found.finding_en,
    found.finding_zh,
    found.would_change_en,
    found.numbers
from record.claims as claims
join result.claims as found on found.claim_id = claims.id
order by claims.number
