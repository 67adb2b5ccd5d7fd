select count(accelerators) from cluster_sizes where date is not null
