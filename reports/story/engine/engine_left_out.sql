-- The interval that holds nine of ten measured step times of sources which the fit had not seen, by class of rows:
-- factors on the modelled time.
select
    split_part(key, '.', 2) as class,
    max(value) filter (key like '%.low') as low,
    max(value) filter (key like '%.high') as high
from record.calibration
where how = 'left out' and key like 'intervals.%'
group by class
having low is not null and high is not null
order by class
