-- One row per run of pretraining and fact of a fixed list: whether the makers state it, and how we know it.
with facts (fact, kind, field) as (
    values
        ('parameters', 'model', 'params_total'), ('parameters', 'model', 'params_active'),
        ('architecture', 'model', 'layers'), ('architecture', 'model', 'hidden'), ('architecture', 'model', 'vocab'),
        ('tokens', 'run', 'tokens'),
        ('compute', 'run', 'compute_flop'),
        ('accelerator', 'run', 'accelerator'),
        ('accelerators', 'run', 'accelerators'),
        ('duration', 'run', 'accelerator_hours'), ('duration', 'run', 'days'),
        ('tensor parallelism', 'run', 'tp'),
        ('pipeline parallelism', 'run', 'pp'),
        ('data parallelism', 'run', 'dp'), ('data parallelism', 'run', 'zero_stage'), ('data parallelism', 'run', 'fsdp'),
        ('sequence length', 'run', 'seq_len'),
        ('batch size', 'run', 'global_batch'), ('batch size', 'run', 'global_batch_tokens'),
        ('precision', 'run', 'precision'),
        ('recomputation', 'run', 'recompute'),
        ('throughput', 'run', 'mfu'), ('throughput', 'run', 'hfu'), ('throughput', 'run', 'tflops_per_accelerator'),
        ('throughput', 'run', 'step_time_s'), ('throughput', 'run', 'tokens_per_s'),
        ('throughput', 'run', 'tokens_per_s_per_accelerator')
),

subjects as (
    select id as run_id, 'run' as kind, id as record_id from pretraining_runs
    union all
    select id as run_id, 'model' as kind, model as record_id from pretraining_runs
),

-- A third-party estimate is not a disclosure: it counts as not disclosed where the authors say so, else as absent.
-- `printed` asks another question: does a document of the makers print it, whoever read that document?
evidence as (
    select cited.kind, cited.record_id, cited.field,
        case
            when cited.basis = 'estimated' then 5
            when cited.second_hand then 3
            when cited.basis = 'derived' then 2
            else 1
        end as grade,
        cited.basis <> 'estimated'
        and coalesce(sources.source_kind not in ('database', 'press', 'results'), false) as printed
    from record.citations as cited
    left join record.sources as sources
        on sources.kind = cited.kind and sources.record_id = cited.record_id and sources.key = cited.source
    union all
    select kind, record_id, field, 4 as grade, false as printed from record.not_disclosed
),

graded as (
    select subjects.run_id, facts.fact, min(coalesce(evidence.grade, 5)) as grade,
        coalesce(bool_or(evidence.printed), false) as printed
    from subjects
    join facts using (kind)
    left join evidence using (kind, record_id, field)
    group by all
)

select
    graded.run_id,
    year(runs.released) as year,
    graded.fact,
    ['stated', 'derived', 'second-hand', 'not-disclosed', 'absent'][graded.grade] as state,
    graded.printed
from graded
join record.runs as runs on runs.id = graded.run_id
order by runs.released, graded.run_id, graded.fact
