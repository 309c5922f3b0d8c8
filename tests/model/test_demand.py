"""What the GPUs ask for, worked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gpufeed.facts import load
from gpufeed.model.adapters import adapters_per_rank
from gpufeed.model.demand import demand
from gpufeed.model.profile import PrefixProfile
from gpufeed.model.recommendation import Demand
from gpufeed.model.workload import Workload


def asked(profile: PrefixProfile | None = None, **traits: Any) -> Demand:
    least = {"task": "pretraining", "instances": 2, "instance_type": "p5.48xlarge"}
    return demand(Workload.from_mapping(least | traits, load()), load(), profile)


def test_sixteen_h100_on_unet3d_ask_for_51_gigabytes_per_second() -> None:
    found = asked(preset="mlperf-unet3d")
    # 16 accelerators × 7 samples / 0.323 s × 146,600,628 bytes
    assert found.samples_per_s is not None and found.samples_per_s.value == pytest.approx(16 * 7 / 0.323)
    assert found.read_bytes_per_s is not None
    assert found.read_bytes_per_s.value == pytest.approx(16 * 7 / 0.323 * 146_600_628)
    assert found.read_bytes_per_s.basis == "published"
    assert found.read_bytes_per_s.sources == {"mlperf-storage-v1.0"}


def test_large_objects_are_read_in_parts_of_eight_mebibytes() -> None:
    found = asked(preset="mlperf-unet3d")
    # 146,600,628 bytes are 17.5 parts, so 18 requests: 17 of 8 MiB and one of the rest.
    assert found.request_bytes is not None and found.request_bytes.value == pytest.approx(146_600_628 / 18)
    assert found.read_requests_per_s is not None and found.read_bytes_per_s is not None
    assert found.read_requests_per_s.value == pytest.approx(found.read_bytes_per_s.value / 146_600_628 * 18)


def test_one_file_per_image_is_one_request_per_image() -> None:
    found = asked(preset="image-classification", samples_per_second_per_accelerator=1000)
    assert found.read_requests_per_s is not None and found.read_requests_per_s.value == pytest.approx(16_000)


def test_the_layout_that_is_stated_beats_the_mean_size_of_the_preset() -> None:
    found = asked(
        preset="image-classification",
        samples_per_second_per_accelerator=1000,
        dataset_bytes=150e9,
        objects=1_000_000,
    )
    # 150 GB in a million files: 150,000 bytes each.
    assert found.read_bytes_per_s is not None
    assert found.read_bytes_per_s.value == pytest.approx(16 * 1000 * 150_000)


def test_a_profile_of_the_prefix_beats_the_stated_layout() -> None:
    profile = PrefixProfile()
    profile.add_many(["a.jpg", "b.jpg"], [30_000, 50_000], ["STANDARD", "STANDARD"])
    found = asked(
        profile,
        preset="image-classification",
        samples_per_second_per_accelerator=1000,
        dataset_bytes=150e9,
        objects=1_000_000,
    )
    assert found.object_bytes is not None and found.object_bytes.value == 40_000
    assert found.object_bytes.basis == "measured"


def test_random_reads_inside_large_files_are_as_small_as_stated() -> None:
    found = asked(preset="llm-text", reads="random", request_bytes=32_768, samples_per_second_per_accelerator=2)
    # 16 accelerators × 2 sequences/s × 8,192 tokens × 4 bytes = 1,048,576 bytes/s in reads of 32 KiB
    assert found.read_requests_per_s is not None and found.read_requests_per_s.value == pytest.approx(32.0)


def attention_flops(parameters: float) -> float:
    """Per token of 8,192: 12 × width × layers × sequence, width/layers 110: layers = (N / (12 × 110²))^(1/3)."""
    layers = (parameters / (12 * 110**2)) ** (1 / 3)
    return 12 * 110 * layers**2 * 8192


def test_tokens_per_second_follow_from_the_shares_that_published_runs_reach() -> None:
    found = asked(model_parameters=8.03e9, sequence_length=8192)
    tokens = found.tokens_per_s_per_accelerator
    assert tokens is not None
    # 40.4 % of 989 TFLOP/s in weights and 30 % in attention, whatever the size
    weights, attention = 6 * 8.03e9 / (0.404 * 989e12), attention_flops(8.03e9) / (0.3 * 989e12)
    assert tokens.value == pytest.approx(1 / (weights + attention))
    # torchtitan reports 5,762 to 6,514 on 8 to 128 H100: inside the range.
    assert tokens.low < 5762 and tokens.high > 6514
    assert "any-training-stack" in [warning.id for warning in found.warnings]


def test_a_named_training_stack_narrows_the_range() -> None:
    traits = {"model_parameters": 70.6e9, "precision": "fp8"}
    whole, named = asked(**traits), asked(**traits, training_stack="megatron-bridge")
    assert whole.tokens_per_s_per_accelerator is not None and named.tokens_per_s_per_accelerator is not None
    # 47.5 % of 1,978 TFLOP/s, and 55 % of 989 in attention, at 59.57e9 parameters; falling with their power 0.060.
    factor = (59.57 / 70.6) ** 0.060
    weights, attention = 6 * 70.6e9 / (0.475 * 1978e12), attention_flops(70.6e9) / (0.55 * 989e12)
    # The source reports 1,619 on 64 H100.
    modelled = factor / (weights + attention)
    assert named.tokens_per_s_per_accelerator.value == pytest.approx(modelled) == pytest.approx(1725, abs=1)
    ratio = [q.high / q.low for q in (named.tokens_per_s_per_accelerator, whole.tokens_per_s_per_accelerator)]
    assert ratio[0] < ratio[1] < 3
    assert "any-training-stack" not in [warning.id for warning in named.warnings]


def test_a_size_beyond_those_of_the_runs_counts_as_the_nearest_of_them() -> None:
    # torchtitan's runs have 8.03e9 to 70.6e9 parameters: at 405e9 the shares are those of 70.6e9.
    tokens = asked(model_parameters=405e9, precision="fp8", training_stack="torchtitan").tokens_per_s_per_accelerator
    factor = (13.83 / 70.6) ** 0.146
    weights, attention = 6 * 405e9 / (0.306 * 1978e12), attention_flops(405e9) / (0.3 * 989e12)
    assert tokens is not None and tokens.value == pytest.approx(factor / (weights + attention))


def test_a_stack_without_a_run_on_the_accelerator_is_said_and_replaced() -> None:
    named, whole = asked(training_stack="neuron"), asked()
    assert named.tokens_per_s_per_accelerator == whole.tokens_per_s_per_accelerator
    assert "no-run-of-stack" in [warning.id for warning in named.warnings]


def test_an_accelerator_without_a_published_run_takes_an_assumed_utilisation() -> None:
    tokens = asked(instance_type="trn2.48xlarge", model_parameters=8.03e9).tokens_per_s_per_accelerator
    # 40 % of 667 TFLOP/s for weights and attention alike
    assert tokens is not None and tokens.basis == "assumed"
    assert tokens.value == pytest.approx(0.4 * 667e12 / (6 * 8.03e9 + attention_flops(8.03e9)))


def test_a_stack_with_runs_at_another_precision_alone_is_as_far_from_all_stacks_at_this_one() -> None:
    found = asked(model_parameters=70.6e9, training_stack="megatron-bridge")
    # In fp8 on H100: 47.5 % in weights and 55 % in attention at 59.57e9 parameters, falling with their power 0.060; all
    # stacks 32 % and 30 %.  In bf16 those have 40.4 % and 30 %.
    factor = (59.57 / 70.6) ** 0.060
    in_weights, in_attention = factor * 0.475 * 0.404 / 0.320, factor * 0.55 * 0.3 / 0.3
    tokens = 1 / (6 * 70.6e9 / (in_weights * 989e12) + attention_flops(70.6e9) / (in_attention * 989e12))
    # NVIDIA reports 71,756 tokens/s on 64 H100: 1,121 each.
    assert found.tokens_per_s_per_accelerator is not None
    assert found.tokens_per_s_per_accelerator.value == pytest.approx(tokens) == pytest.approx(1182, abs=1)
    # No more than the best matrix product, 794.5 of 989 TFLOP/s: 0.734 × 0.404 / 0.320 would be 92 %.
    assert found.intermediates["share_in_weights"].high == pytest.approx(794.5 / 989)
    assert "no-run-of-stack" in [warning.id for warning in found.warnings]


def test_a_dense_model_of_mamba_layers_counts_as_a_transformer_of_its_size() -> None:
    hybrid, dense = (asked(preset=preset, model_parameters=56e9) for preset in ("llm-text-mamba", "llm-text"))
    assert hybrid.tokens_per_s_per_accelerator == dense.tokens_per_s_per_accelerator


def test_a_mixture_of_experts_is_counted_by_its_active_parameters_and_is_slower_than_a_dense_model() -> None:
    dense, sparse = asked(model_parameters=37e9), asked(model_parameters=671e9, active_parameters=37e9)
    assert dense.tokens_per_s_per_accelerator is not None and sparse.tokens_per_s_per_accelerator is not None
    # The same FLOPs, 49.7 % of the dense share in the weights.
    weights, attention = 6 * 37e9 / (0.404 * 989e12), attention_flops(37e9) / (0.3 * 989e12)
    assert dense.tokens_per_s_per_accelerator.value == pytest.approx(1 / (weights + attention))
    assert sparse.tokens_per_s_per_accelerator.value == pytest.approx(1 / (weights / 0.497 + attention))
    assert sparse.checkpoint_bytes is not None and sparse.checkpoint_bytes.value == pytest.approx(14 * 671e9)


def test_a_mixture_in_fp8_on_hopper_reaches_what_mixtures_there_did() -> None:
    # 11.5 % of 1,978 TFLOP/s in the weights, no share of what a dense model reaches there.
    tokens = asked(model_parameters=235e9, active_parameters=22e9, precision="fp8").tokens_per_s_per_accelerator
    weights, attention = 6 * 22e9 / (0.115 * 1978e12), attention_flops(22e9) / (0.3 * 989e12)
    assert tokens is not None and tokens.value == pytest.approx(1 / (weights + attention))


def test_a_model_of_mamba_layers_reaches_one_rate_at_any_precision_and_no_attention_is_counted() -> None:
    traits = {"preset": "llm-text-mamba", "model_parameters": 31.6e9, "active_parameters": 3.6e9}
    found = {precision: asked(**traits, precision=precision) for precision in ("bf16", "fp8")}
    # 27.1 % of 989 TFLOP/s; in fp8 13.5 % of twice that.
    for precision, share in (("bf16", 0.271), ("fp8", 0.135 * 2)):
        tokens = found[precision].tokens_per_s_per_accelerator
        assert tokens is not None and tokens.value == pytest.approx(share * 989e12 / (6 * 3.6e9))
        assert "mixture-taken-for-transformer" not in [warning.id for warning in found[precision].warnings]
    taken = asked(model_parameters=31.6e9, active_parameters=3.6e9)
    assert "mixture-taken-for-transformer" in [warning.id for warning in taken.warnings]


def test_a_variant_is_told_apart_where_pairs_of_runs_were_published() -> None:
    blackwell = {"instance_type": "p6-b200.48xlarge", "sequence_length": 1}
    tokens = {}
    for precision in ("fp8", "fp8-current", "fp8-rowwise", "mxfp8"):
        found = asked(**blackwell, model_parameters=70e9, precision=precision).tokens_per_s_per_accelerator
        assert found is not None
        tokens[precision] = found.value
    # Next to no attention: 94.2 % and 78.4 % of one scale a tensor.
    assert tokens["fp8-current"] == tokens["fp8"]
    assert tokens["mxfp8"] / tokens["fp8"] == pytest.approx(0.942, abs=1e-3)
    assert tokens["fp8-rowwise"] / tokens["fp8"] == pytest.approx(0.784, abs=1e-3)


def test_a_variant_without_pairs_of_runs_counts_as_its_family_and_is_said_to() -> None:
    family, block = asked(precision="fp8"), asked(precision="fp8-blockwise")
    assert block.tokens_per_s_per_accelerator == family.tokens_per_s_per_accelerator
    said = next(warning for warning in block.warnings if warning.id == "precision-as-family")
    assert said.parameters == {"precision": "fp8-blockwise", "family": "fp8"}
    assert "precision-as-family" not in [warning.id for warning in family.warnings]


@pytest.mark.parametrize("precision", ["mxfp8", "fp4", "nvfp4", "mxfp4"])
def test_a_precision_that_the_accelerator_does_not_have_is_said_and_no_rate_is_made_up(precision: str) -> None:
    found = asked(precision=precision)
    assert found.tokens_per_s_per_accelerator is None
    said = next(warning for warning in found.warnings if warning.id == "precision-not-on-accelerator")
    assert said.parameters == {"accelerator": "H100", "precision": precision}


def test_of_a_mixture_whose_size_is_not_stated_the_rate_is_known_and_the_checkpoint_not() -> None:
    told, silent = asked(model_parameters=671e9, active_parameters=37e9), asked(active_parameters=37e9)
    assert silent.tokens_per_s_per_accelerator == told.tokens_per_s_per_accelerator
    assert silent.checkpoint_bytes is None
    warned = [warning.id for warning in silent.warnings]
    assert "no-checkpoint-size" in warned and "default-model-size" not in warned


def test_a_mixture_reaches_the_same_share_whatever_the_number_of_its_active_parameters() -> None:
    many = asked(model_parameters=671e9, active_parameters=37e9, sequence_length=1)
    few = asked(model_parameters=30e9, active_parameters=3.7e9, sequence_length=1)
    assert many.tokens_per_s_per_accelerator is not None and few.tokens_per_s_per_accelerator is not None
    # A tenth of the FLOPs; next to no attention.
    faster = few.tokens_per_s_per_accelerator.value / many.tokens_per_s_per_accelerator.value
    assert faster == pytest.approx(10, rel=1e-3)


def test_video_has_no_published_rate_and_says_so() -> None:
    found = asked(preset="video")
    assert found.read_bytes_per_s is None and found.read_requests_per_s is None
    assert "no-sample-rate" in [warning.id for warning in found.warnings]


def test_samples_of_ones_own_are_not_taken_for_a_language_model() -> None:
    found = asked(sample_bytes=150_000, samples_per_second_per_accelerator=400)
    assert found.read_bytes_per_s is not None and found.read_bytes_per_s.value == pytest.approx(16 * 400 * 150_000)
    assert found.tokens_per_s_per_accelerator is None and found.object_bytes is None and found.checkpoint_bytes is None
    said = {warning.id for warning in found.warnings}
    assert "no-checkpoint-size" in said and not said & {"default-preset", "default-model-size"}


def test_a_stated_sequence_makes_it_a_language_model_again() -> None:
    found = asked(sample_bytes=32_768, samples_per_second_per_accelerator=1.5, sequence_length=8192)
    assert found.tokens_per_s_per_accelerator is not None
    assert found.tokens_per_s_per_accelerator.value == pytest.approx(1.5 * 8192)


def test_a_rate_scaled_to_another_accelerator_is_assumed_and_wide() -> None:
    found = asked(preset="mlperf-unet3d", instance_type="p6-b300.48xlarge")
    assert found.samples_per_s is not None and found.samples_per_s.basis == "assumed"
    assert found.samples_per_s.high >= 2 * found.samples_per_s.value
    assert "scaled-rate" in [warning.id for warning in found.warnings]


def test_a_synchronous_save_must_fit_the_tolerated_share_of_the_interval() -> None:
    found = asked(checkpoint_bytes=1e12, checkpoint_interval=2000, stall_tolerance=0.05)
    # 1 TB within 5 % of 2,000 s
    assert found.checkpoint_write_bytes_per_s is not None
    assert found.checkpoint_write_bytes_per_s.value == pytest.approx(1e10)


def test_an_asynchronous_save_has_the_whole_interval() -> None:
    found = asked(checkpoint_bytes=1e12, checkpoint_interval=2000, checkpoint_mode="async")
    assert found.checkpoint_write_bytes_per_s is not None
    assert found.checkpoint_write_bytes_per_s.value == pytest.approx(5e8)


def test_samples_that_are_picked_from_inside_large_objects_are_not_these_objects() -> None:
    shards = {"preset": "image-classification", "dataset_bytes": 3e12, "objects": 3000}
    whole, inside = asked(**shards), asked(**shards, reads="random")
    published = load().workloads["image-classification"].known("sample_bytes").value
    for found, each in ((whole, 1e9), (inside, published)):
        assert found.read_bytes_per_s is not None and found.samples_per_s is not None
        assert found.read_bytes_per_s.value / found.samples_per_s.value == pytest.approx(each)
    # Objects smaller than the published sample hold no more than one.
    small = asked(preset="image-classification", dataset_bytes=3e12, objects=300_000_000, reads="random")
    assert small.read_bytes_per_s is not None and small.samples_per_s is not None
    assert small.read_bytes_per_s.value / small.samples_per_s.value == pytest.approx(10_000)


def test_a_restore_target_asks_for_a_rate() -> None:
    found = asked(checkpoint_bytes=1e12, restore_target=100)
    assert found.restore_bytes_per_s is not None and found.restore_bytes_per_s.value == pytest.approx(1e10)


def test_a_restore_reads_shards_once_a_whole_file_on_every_node_and_the_frozen_base_model_too() -> None:
    sharded = asked(instances=8, checkpoint_bytes=98e9, restore_target=100)
    whole = asked(instances=8, checkpoint_bytes=98e9, checkpoint_writers=1, restore_target=100)
    adapter = asked(
        task="lora",
        instances=8,
        checkpoint_bytes=1e9,
        model_parameters=70e9,
        base_model_bytes=140e9,
        restore_target=100,
    )
    restores = [found.restore_bytes and found.restore_bytes.value for found in (sharded, whole, adapter)]
    # 98 GB; 8 × 98 GB; 8 × (1 + 140) GB
    assert restores == [98e9, pytest.approx(784e9), pytest.approx(1128e9)]
    assert adapter.restore_bytes_per_s is not None
    assert adapter.restore_bytes_per_s.value == pytest.approx(1128e9 / 100)


def test_the_time_between_failures_falls_with_the_number_of_nodes() -> None:
    found = asked(instances=128)
    # 6.5 failures per 1,000 node-days on 128 nodes: 1.2019 days; published extremes 23.74 and 2.97.
    mean = found.mean_time_to_failure
    assert mean is not None and mean.value == pytest.approx(86_400 * 1000 / (6.5 * 128))
    assert (mean.low, mean.high) == (
        pytest.approx(86_400 * 1000 / (23.74 * 128)),
        pytest.approx(86_400 * 1000 / (2.97 * 128)),
    )


def test_a_lora_checkpoint_is_its_adapter() -> None:
    found = asked(task="lora", model_parameters=8_030_261_248, lora_rank=16)
    # 32 layers × (9 × 4,096 + 2 × 1,024 + 3 × 14,336) = 2,621,440 per rank × 16 × 10 bytes = 419 MB.
    assert found.checkpoint_bytes is not None
    assert found.checkpoint_bytes.value == pytest.approx(2_621_440 * 16 * 10)
    # Query and value alone, 32 × (3 × 4,096 + 1,024), without the optimizer, of a model with fewer of them.
    assert found.checkpoint_bytes.low == pytest.approx(0.69 * 425_984 * 16 * 2)
    assert found.checkpoint_bytes.high == pytest.approx(1.38 * 2_621_440 * 16 * 12)


@pytest.mark.parametrize(
    ("parameters", "shape", "accuracy"),
    [
        (8.03e9, (32, 4096, 14336, 1024), 1e-4),
        (8e9, (32, 4096, 14336, 1024), 0.002),
        (70.55e9, (80, 8192, 28672, 1024), 1e-4),
        (70e9, (80, 8192, 28672, 1024), 1e-9),
        (405.85e9, (126, 16384, 53248, 1024), 1e-4),
        (405e9, (126, 16384, 53248, 1024), 0.002),
        (1.236e9, (16, 2048, 8192, 512), 0.001),
        (3.213e9, (28, 3072, 8192, 1024), 0.001),
        (6.74e9, (32, 4096, 11008, 4096), 0.001),
        (13.016e9, (40, 5120, 13824, 5120), 1e-4),
        (14.77e9, (48, 5120, 13824, 1024), 0.005),  # Qwen2.5, which no fact holds
        (72.7e9, (80, 8192, 29568, 1024), 0.005),  # likewise
    ],
)
def test_adapters_grow_by_the_widths_of_the_layers_not_by_the_size_of_the_model(
    parameters: float, shape: tuple[int, int, int, int], accuracy: float
) -> None:
    layers, width, feed_forward, key_value = shape
    # Query and output d × d, key and value d × kv, gate, up and down d × f: d_in + d_out of each, times the rank.
    by_hand = layers * (2 * 2 * width + 2 * (width + key_value) + 3 * (width + feed_forward))
    found = adapters_per_rank(parameters, load())
    assert found.value == pytest.approx(by_hand, rel=accuracy)


@pytest.mark.parametrize(
    ("parameters", "layers", "width", "feed_forward", "key_value"),
    [  # Qwen2.5 from 0.5B, smaller than any published size in the facts, to 32B
        (494e6, 24, 896, 4864, 128),
        (1.544e9, 28, 1536, 8960, 256),
        (3.086e9, 36, 2048, 11008, 256),
        (7.616e9, 28, 3584, 18944, 512),
        (32.76e9, 64, 5120, 27648, 1024),
    ],
)
def test_the_range_holds_other_shapes_of_the_same_size(
    parameters: float, layers: int, width: int, feed_forward: int, key_value: int
) -> None:
    found = adapters_per_rank(parameters, load())
    assert found.low < layers * (3 * width + key_value) < found.high
    assert found.low < layers * (9 * width + 2 * key_value + 3 * feed_forward) < found.high


def test_outside_the_published_sizes_adapters_grow_between_a_wider_and_a_deeper_model() -> None:
    # Four times 1,183e9: by the line from Llama 3 405B, 38,965,248 per rank, to it, 68,657,152.
    slope = math.log(68_657_152 / 38_965_248) / math.log(1183035102480 / 405853388800)
    found = adapters_per_rank(4 * 1183035102480, load())
    assert found.value == pytest.approx(68_657_152 * 4**slope)
    assert (found.low, found.high) == (pytest.approx(0.69 * 2 * 10_486_784), pytest.approx(1.38 * 4 * 68_657_152))
    small = adapters_per_rank(1235814400 / 4, load())
    assert (small.low, small.high) == (pytest.approx(0.69 * 106_496 / 4), pytest.approx(1.38 * 704_512 / 2))


def test_adapters_of_a_mixture_are_said_to_leave_its_experts_out() -> None:
    traits = {"task": "lora", "model_parameters": 671e9, "lora_rank": 16}
    assert "adapters-of-mixture" not in [warning.id for warning in asked(**traits).warnings]
    [said] = [one for one in asked(**traits, active_parameters=37e9).warnings if one.id == "adapters-of-mixture"]
    assert said.parameters == {"parameters": 671e9}


def test_no_read_is_larger_than_its_object() -> None:
    found = asked(dataset_bytes=1e9, objects=10_000, request_bytes=1e6)
    assert found.request_bytes is not None and found.request_bytes.value == pytest.approx(100_000)


def test_a_stated_model_size_is_said_not_to_change_a_published_rate() -> None:
    images = {"preset": "image-classification", "model_parameters": 12e9}
    # 1,785.7 images/s × 6 × 12e9 FLOP: the peak of H100 has room for 7.7 of them, and a transformer has more patches.
    [told] = [warning for warning in asked(**images).warnings if warning.id.startswith("rate-of-preset-model")]
    assert told.id == "rate-of-preset-model-uses"
    assert told.parameters["uses"] == pytest.approx(989e12 / (1785.7 * 6 * 12e9)) == pytest.approx(7.69, abs=0.01)
    own = asked(**images, samples_per_second_per_accelerator=5.4)
    # 114.9 images/s of 1e9 parameters leave 1,434 uses of each, more than the largest published image asks for.
    small = asked(preset="image-generation", model_parameters=1e9)
    assert "rate-of-preset-model" in [warning.id for warning in small.warnings]
    for other in (own, asked(model_parameters=12e9)):
        assert not [warning.id for warning in other.warnings if warning.id.startswith("rate-of-preset-model")]
