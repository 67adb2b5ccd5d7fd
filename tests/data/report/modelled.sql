-- Result rows small enough to count by hand, in the place of what the analysis finds about the made-up house.
delete from result.memory where run_id = 'acme/dense';
delete from result.communication where run_id = 'acme/dense';
delete from result.claims;
delete from result.trends;

insert into result.memory by name
select 'acme/dense' as run_id, 'small' as phase, stage, part, gib as value, 'GiB' as unit
from (values (0, 'weights', 3.0), (0, 'activations', 9.0), (1, 'weights', 3.0), (1, 'activations', 5.0))
    as modelled (stage, part, gib);

insert into result.communication by name
select
    'acme/dense' as run_id, 'small' as phase, 'tp' as dimension, 2e9 as bytes_per_step, 'scale-up' as placement,
    0.0 as scale_out_bytes_per_step, 0.02 as seconds, 0.02 as exposed_s;

insert into result.claims by name
select
    'dense-is-small' as claim_id, 1 as number, 'holds' as verdict, '{"accelerators": 64}' as numbers,
    'It used 64 chips.' as finding_en, '使用了 64 张。' as finding_zh,
    'More chips.' as would_change_en, '更多。' as would_change_zh;

insert into result.trends by name
select trend_id, statistic, value, low, high, n, '2020-01-01' as window_from, '2025-12-31' as window_to, note
from (values
    ('compute-frontier', 'growth_per_year', 4.0, 3.0, 5.0, 40, null),
    ('compute-frontier', 'fit@2020-01-01', 1e19, 5e18, 2e19, 40, null),
    ('compute-frontier', 'fit@2025-12-31', 1e22, 5e21, 2e22, 40, null),
    ('compute-frontier', 'break_date', 2023.5, 2022.0, 2024.5, 40, null),
    ('compute-frontier', 'growth_before_break', 5.0, 4.0, 6.0, 40, null),
    ('compute-frontier', 'growth_after_break', 2.0, 0.5, 4.0, 40, null),
    ('compute-frontier', 'bic_gain', 1.0, null, null, 40, 'cannot tell'),
    ('compute-frontier', 'share_preferring_break', 0.5, null, null, 40, null),
    ('compute-record', 'months_since_record', 17.2, null, null, 40, null),
    ('cluster-size-runs', 'growth_per_year', 2.4, 1.8, 3.6, 35, null),
    ('mfu-gap-as-reported', 'difference', 0.05, -0.02, 0.12, 20, null),
    ('mfu-gap-as-reported', 'p_value', 0.2, null, null, 20, null)
) as found (trend_id, statistic, value, low, high, n, note);

-- Three step times of ten seconds, modelled as 9, 10 and 12; the interval of the last misses.
insert into result.measured by name
select 'acme-table' as benchmark_id, row, 'Throughput (Acme)' as family, 'step_time' as quantity, 10.0 as measured,
    modelled, low, high, 's' as unit
from (values ('a', 9.0, 8.0, 11.0), ('b', 10.0, 9.0, 11.0), ('c', 12.0, 11.0, 13.0)) as rows(row, modelled, low, high);
