"""Groups of ranks on boxes, racks, tori and meshes, by hand and against published link rates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import links as topo
from analysis.physics.collectives import ring
from analysis.physics.links import Fabric, Network


def rate(size: float, stride: float, domain: float, up: float, out: float, host: float = np.nan) -> float:
    """Bytes over seconds of a ring [B/s]."""
    one = ring(
        1e9, size, stride, Network(*(np.asarray(x, dtype=float) for x in (up, out, host, domain, 0.0, 0.0, 0.0)))
    )
    return float(one.sent / one.seconds)


def test_ranks_are_numbered_tensor_context_data_pipeline() -> None:
    # 16,384 ranks of Llama 3.1 405B at 128K context (arXiv:2407.21783, Table 4): TP 8, CP 16, DP 8, PP 16.
    strides = topo.rank_strides(tp=8, cp=16, dp=8, etp=2)
    assert {name: int(value) for name, value in strides.items()} == {"tp": 1, "cp": 8, "ep": 2, "dp": 128, "pp": 1024}


def test_tensor_group_of_eight_fills_one_box_and_sixteen_does_not() -> None:
    assert topo.inside_domain(np.array([8.0, 16.0]), 1.0, 8.0).tolist() == [True, False]


def test_a_group_of_one_is_always_inside_and_waits_for_no_link() -> None:
    assert bool(topo.inside_domain(1.0, 64.0, 8.0))
    alone = Network(*(np.asarray(x) for x in (450e9, np.nan, np.nan, 8.0, 0.0, 0.0, 0.0)))
    assert float(ring(1e9, 1.0, 64.0, alone).seconds) == 0.0


def test_data_ring_uses_every_nic_of_the_node() -> None:
    # H100 box, 64 ranks of DP with TP 1: eight members per node, eight NICs of 50 GB/s.
    assert rate(64, 1, 8, 450e9, 50e9) == pytest.approx(400e9)


def test_data_ring_with_one_member_per_node_has_one_nic() -> None:
    assert rate(64, 8, 8, 450e9, 50e9) == pytest.approx(50e9)
    assert rate(64, 16, 8, 450e9, 50e9) == pytest.approx(50e9)


def test_rails_wait_for_the_link_inside_the_box() -> None:
    # H800: eight NICs of 50 GB/s are 400 GB/s; seven of eight hops go over the NVLink of 200 GB/s.
    assert rate(64, 1, 8, 200e9, 50e9) == pytest.approx(200e9 * 8 / 7)


def test_a_rack_of_seventy_two_holds_groups_that_a_box_cannot() -> None:
    assert [rate(64.0, 1.0, domain, 900e9, 50e9) for domain in (8.0, 72.0)] == pytest.approx([400e9, 900e9])


def test_members_per_domain_are_whole_ranks() -> None:
    # 72 / 5 = 14.4 members: fourteen share the rack.
    assert topo.members_per_domain(np.array([32.0, 4.0]), 5.0, 72.0).tolist() == [14.0, 4.0]


def test_cards_without_links_meet_over_the_host() -> None:
    inside_host = rate(4, 1, 1, np.nan, 12.5e9, 31.5e9)
    beyond = rate(8, 2, 1, np.nan, 12.5e9, 31.5e9)
    assert (inside_host, beyond) == pytest.approx((31.5e9, 12.5e9))


def test_two_cards_bridged_in_pairs_go_over_the_host_in_fours() -> None:
    assert rate(4, 1, 2, 300e9, 25e9, 31.5e9) == pytest.approx(31.5e9)


def test_mesh_group_of_two_has_one_of_seven_links() -> None:
    # MI300X: 7 links of 64 GB/s each way; two peers share one link.
    assert float(448e9 * topo.fabric_share(2, 8, Fabric.MESH)) == pytest.approx(64e9)


def test_torus_ring_uses_one_axis_until_the_group_outgrows_it() -> None:
    shares = topo.fabric_share(np.array([4.0, 16.0, 17.0, 4096.0, 5000.0]), 8960.0, Fabric.TORUS_3D)
    assert shares == pytest.approx([1 / 3, 1 / 3, 2 / 3, 1.0, 1.0])


def test_flat_torus_has_two_axes_only() -> None:
    assert topo.fabric_share(np.array([16.0, 256.0, 4096.0]), 256.0, Fabric.TORUS_2D) == pytest.approx([0.5, 1.0, 1.0])


def test_a_switch_gives_each_group_all_of_the_link() -> None:
    assert topo.fabric_share(np.array([2.0, 8.0]), 8.0, Fabric.SWITCH).tolist() == [1.0, 1.0]


@given(st.integers(2, 512), st.integers(1, 64), st.sampled_from([1, 4, 8, 72]))
def test_more_nic_bandwidth_never_slows_a_ring(size: int, stride: int, domain: int) -> None:
    slow = rate(size, stride, domain, 450e9, 25e9)
    assert rate(size, stride, domain, 450e9, 50e9) >= slow


def test_vector_equals_scalars() -> None:
    sizes, h100 = [2.0, 8.0, 64.0], Network(*(np.asarray(x) for x in (450e9, 50e9, np.nan, 8.0, 0.0, 0.0, 0.0)))
    each = [float(ring(1e9, n, 2.0, h100).seconds) for n in sizes]
    assert ring(1e9, np.array(sizes), 2.0, h100).seconds.tolist() == each
