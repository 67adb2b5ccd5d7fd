-- Result rows small enough to count by hand, in the place of what the analysis finds about the made-up house.
delete from result.memory;
delete from result.communication;
delete from result.claims;

insert into result.memory by name
select 'acme/dense' as run_id, 'small' as phase, stage, part, gib as value, 'GiB' as unit
from (values (0, 'weights', 3.0), (0, 'activations', 9.0), (1, 'weights', 3.0), (1, 'activations', 5.0))
    as modelled (stage, part, gib);

insert into result.communication by name
select
    'acme/dense' as run_id, 'small' as phase, 'tp' as dimension, 2e9 as bytes_per_step, 'scale-up' as placement,
    1e11 as bandwidth_b_s, 0.02 as seconds, 0.02 as exposed_s;

insert into result.claims by name
select
    'dense-is-small' as claim_id, 1 as number, 'holds' as verdict, '{"accelerators": 64}' as numbers,
    'It used 64 chips.' as finding_en, '使用了 64 张。' as finding_zh,
    'More chips.' as would_change_en, '更多。' as would_change_zh;
