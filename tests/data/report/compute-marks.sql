-- A mark per run with a figure, a triangle per run without any.
select
    (select count(compute_flop) from frontier_compute)
    + (select count(*) from run_summary where coalesce(compute_flop, compute_flop_low, compute_flop_high) is null)
