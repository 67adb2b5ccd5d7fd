N=${1:-4}
python3 -m maxtext.train base.yml steps=$N per_device_batch_size=0.5 ici_fsdp_parallelism=4 \
  max_target_length=$((8 * 2)) remat_policy=full run_name=x quantization=int8
