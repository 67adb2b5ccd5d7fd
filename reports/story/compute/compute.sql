-- Training compute of every dated run that has a figure, and whether it was the largest when released.
select
    frontier.run_id,
    frontier.name,
    frontier.organization,
    coalesce(frontier.sparsity, 'undisclosed') as hue,
    frontier.released,
    runs.released_precision as precision,
    frontier.compute_flop,
    frontier.compute_flop_low,
    frontier.compute_flop_high,
    frontier.status,
    frontier.is_record
from frontier_compute as frontier
join run_summary as runs on frontier.run_id = runs.run_id
where frontier.released is not null
    and coalesce(frontier.compute_flop, frontier.compute_flop_low, frontier.compute_flop_high) is not null
order by frontier.released, frontier.run_id
