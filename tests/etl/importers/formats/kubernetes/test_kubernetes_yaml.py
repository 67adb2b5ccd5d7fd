"""A job around a command: devices from the job, the rest from the command."""


def test_a_topology_times_its_slices_are_the_devices(facts):
    found = facts(
        "job.yaml",
        """\
        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        spec:
          replicatedJobs:
            - replicas: 2
              template:
                spec:
                  nodeSelector: {cloud.google.com/gke-tpu-topology: 2x4x4}
                  containers:
                    - command: [bash, -c, "python3 -m MaxText.train base.yml steps=7 max_target_length=64 run_name=a"]
        """,
    )
    assert (found["accelerators"], found["train_steps"]) == (2 * (2 * 4 * 4), 7)
