-- Every fitted trend and test, as the analysis left it.
select trend_id, statistic, value, low, high, unit, n, window_from, window_to, method, note
from result.trends
order by trend_id, statistic
