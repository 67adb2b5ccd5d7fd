"""Groups of ranks on boxes, racks, tori and meshes, by hand and against published link rates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import links as topo


def test_ranks_are_numbered_tensor_context_data_pipeline() -> None:
    # 16,384 ranks of Llama 3.1 405B at 128K context (arXiv:2407.21783, Table 4): TP 8, CP 16, DP 8, PP 16.
    strides = topo.rank_strides(tp=8, cp=16, dp=8, etp=2)
    assert {name: int(value) for name, value in strides.items()} == {"tp": 1, "cp": 8, "ep": 2, "dp": 128, "pp": 1024}


def test_tensor_group_of_eight_fills_one_box_and_sixteen_does_not() -> None:
    assert topo.inside_domain(np.array([8.0, 16.0]), 1.0, 8.0).tolist() == [True, False]


def test_a_group_of_one_is_always_inside_and_waits_for_no_link() -> None:
    assert bool(topo.inside_domain(1.0, 64.0, 8.0))
    assert np.isinf(topo.ring_bandwidth(1.0, 64.0, 8.0, 450e9, np.nan))


def test_data_ring_uses_every_nic_of_the_node() -> None:
    # H100 box, 64 ranks of DP with TP 1: eight members per node, eight NICs of 50 GB/s.
    assert float(topo.ring_bandwidth(64, 1, 8, 450e9, 50e9)) == pytest.approx(400e9)


def test_data_ring_with_one_member_per_node_has_one_nic() -> None:
    assert float(topo.ring_bandwidth(64, 8, 8, 450e9, 50e9)) == pytest.approx(50e9)
    assert float(topo.ring_bandwidth(64, 16, 8, 450e9, 50e9)) == pytest.approx(50e9)


def test_rails_are_never_faster_than_the_scale_up_link() -> None:
    # H800: eight NICs of 50 GB/s are 400 GB/s, the NVLink beside them 200 GB/s.
    assert float(topo.ring_bandwidth(64, 1, 8, 200e9, 50e9)) == pytest.approx(200e9)


def test_a_rack_of_seventy_two_holds_groups_that_a_box_cannot() -> None:
    speeds = topo.ring_bandwidth(64.0, 1.0, np.array([8.0, 72.0]), 900e9, 50e9)
    assert speeds.tolist() == [400e9, 900e9]


def test_members_per_domain_are_whole_ranks() -> None:
    # 72 / 5 = 14.4 members: fourteen share the rack.
    assert topo.members_per_domain(np.array([32.0, 4.0]), 5.0, 72.0).tolist() == [14.0, 4.0]


def test_cards_without_links_meet_over_the_host() -> None:
    inside_host = topo.ring_bandwidth(4, 1, 1, np.nan, 12.5e9, 31.5e9)
    beyond = topo.ring_bandwidth(8, 2, 1, np.nan, 12.5e9, 31.5e9)
    assert (float(inside_host), float(beyond)) == (31.5e9, 12.5e9)


def test_two_cards_bridged_in_pairs_go_over_the_host_in_fours() -> None:
    assert float(topo.ring_bandwidth(4, 1, 2, 300e9, 25e9, 31.5e9)) == 31.5e9


def test_mesh_group_of_two_has_one_of_seven_links() -> None:
    # MI300X: 7 links of 64 GB/s each way; two peers share one link.
    assert float(448e9 * topo.fabric_share(2, 8, topo.MESH)) == pytest.approx(64e9)


def test_torus_ring_uses_one_axis_until_the_group_outgrows_it() -> None:
    shares = topo.fabric_share(np.array([4.0, 16.0, 17.0, 4096.0, 5000.0]), 8960.0, topo.TORUS_3D)
    assert shares == pytest.approx([1 / 3, 1 / 3, 2 / 3, 1.0, 1.0])


def test_flat_torus_has_two_axes_only() -> None:
    assert topo.fabric_share(np.array([16.0, 256.0, 4096.0]), 256.0, topo.TORUS_2D) == pytest.approx([0.5, 1.0, 1.0])


def test_a_switch_gives_each_group_all_of_the_link() -> None:
    assert topo.fabric_share(np.array([2.0, 8.0]), 8.0, topo.SWITCH).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("architecture", "fabric"),
    [("cdna3", topo.MESH), ("ascend-910b", topo.MESH), ("gaudi2", topo.MESH), ("tpu-v5e", topo.TORUS_2D),
     ("tpu-v4", topo.TORUS_3D), ("trainium1", topo.TORUS_2D)],
)  # fmt: skip
def test_fabric_of_each_architecture(architecture: str, fabric: float) -> None:
    assert topo.FABRICS[architecture] == fabric


def test_stage_neighbours_in_one_rack_use_its_links() -> None:
    speeds = topo.point_to_point_bandwidth(np.array([36.0, 37.0]), 72.0, 900e9, 50e9)
    assert speeds.tolist() == [900e9, 50e9]


@pytest.mark.parametrize(("scale_up", "scale_out", "times"), [(450e9, 50e9, 9), (300e9, 25e9, 12), (900e9, 100e9, 9)])
def test_scale_up_is_nine_to_eighteen_times_the_nic_like_for_like(
    scale_up: float, scale_out: float, times: float
) -> None:
    # H100, A100 and GB200 with an 800 Gbit/s NIC, one direction each.
    assert float(topo.scale_up_advantage(scale_up, scale_out)) == times


@given(st.integers(2, 512), st.integers(1, 64), st.sampled_from([1, 4, 8, 72]))
def test_more_nic_bandwidth_never_slows_a_ring(size: int, stride: int, domain: int) -> None:
    slow = topo.ring_bandwidth(size, stride, domain, 450e9, 25e9)
    assert float(topo.ring_bandwidth(size, stride, domain, 450e9, 50e9)) >= float(slow)


def test_vector_equals_scalars() -> None:
    sizes = [2.0, 8.0, 64.0]
    each = [float(topo.ring_bandwidth(n, 2.0, 8.0, 450e9, 50e9)) for n in sizes]
    assert topo.ring_bandwidth(np.array(sizes), 2.0, 8.0, 450e9, 50e9).tolist() == each
