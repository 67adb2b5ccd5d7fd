-- Publishers and quantities with at least one modelled measurement.
select count(*) from (select distinct family, quantity from result.measured where modelled is not null);
