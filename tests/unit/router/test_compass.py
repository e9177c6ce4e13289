import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from graph.errors import UsageError
from router.compass import Abstraction, Compass, CompassConfig, Selector
from router.compass_loss import bernoulli_divergence, distillation_loss, listwise_loss

SMALL = CompassConfig(
    dimensions=2, topics=4, entries=2, strongest=2, heads=2, feedforward=8, hidden=(5, 3), dropout=0
)
CENTROIDS = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-1.0, 0.0]])
BANK = torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.25, 0.25, 0.25, 0.25]])


def network(**changes: object) -> Compass:
    torch.manual_seed(0)
    config = CompassConfig(**({**vars_of(SMALL), **changes}))
    return Compass(config, CENTROIDS).eval()


def vars_of(config: CompassConfig) -> dict[str, object]:
    return {name: getattr(config, name) for name in config.__dataclass_fields__}


def test_the_summary_is_the_weighed_sum_of_the_strongest_centroids() -> None:
    theta = torch.tensor([[0.5, 0.3, 0.15, 0.05]])

    assert network().summarise(theta).tolist() == [[0.5 * 1.0, pytest.approx(0.3 * 1.0)]]


def test_the_papers_selector_is_a_weighed_sum_of_question_and_entry() -> None:
    selector = Selector(SMALL)
    selector.linear.weight.data = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    selector.linear.bias.data = torch.tensor([0.5])

    scores = selector(torch.tensor([[1.0, 0.0]]), torch.tensor([[[0.0, 1.0], [1.0, 1.0]]]))

    assert scores.tolist() == [[1 + 4 + 0.5, 1 + 3 + 4 + 0.5]]


def test_the_papers_selector_chooses_the_same_entries_for_every_question() -> None:
    questions = functional.normalize(torch.randn(8, 2), dim=1)

    refined = network().refine(questions, BANK)

    assert torch.allclose(refined, refined[:1].expand_as(refined), atol=1e-6)


def test_a_bilinear_selector_chooses_entries_by_the_question() -> None:
    questions = torch.tensor([[1.0, 0.0], [0.0, 1.0]])

    refined = network(selection="bilinear", abstraction=False, entries=1).refine(questions, BANK)

    assert refined.tolist() == BANK[:2].tolist()


def test_without_selection_the_first_entries_of_the_bank_are_averaged() -> None:
    refined = network(selection="none", abstraction=False).refine(torch.ones(1, 2), BANK)

    assert torch.allclose(refined, BANK[:2].mean(dim=0, keepdim=True))


def test_the_abstraction_is_the_mean_over_torchs_encoder_as_a_distribution() -> None:
    torch.manual_seed(0)
    abstraction = Abstraction(SMALL).eval()
    layers = [nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True).eval() for _ in range(2)]
    for layer, own in zip(layers, abstraction.encoder.layers, strict=True):
        layer.load_state_dict(own.state_dict())
    selected = BANK[None]

    theta = abstraction(selected, torch.full((1, 3), 1 / 3))

    expected = layers[1](layers[0](selected)).mean(dim=1).softmax(dim=-1)
    assert torch.allclose(theta, expected, atol=1e-6)
    assert theta.sum().item() == pytest.approx(1)


def test_the_score_is_three_layers_over_both_enriched_vectors() -> None:
    net = network(guidance="own")
    e_q, e_c = torch.tensor([[1.0, 0.0]]), torch.tensor([[[0.0, 1.0]]])
    own, theta = BANK[:1], BANK[None, 1:2]

    z = net(e_q, e_c, theta, BANK, own)

    r = torch.cat([e_q, net.summarise(own), e_c[:, 0], net.summarise(theta)[:, 0]], dim=1)
    one, two, three = (layer for layer in net.mlp if isinstance(layer, nn.Linear))
    expected = three(functional.gelu(two(functional.gelu(one(r * math.sqrt(2))))))
    assert torch.allclose(z, expected)


@pytest.mark.parametrize("guidance", ["bank", "own", "none"])
@pytest.mark.parametrize("products", [True, False])
def test_every_variant_scores_every_candidate(guidance: str, products: bool) -> None:
    net = network(guidance=guidance, products=products)
    theta = torch.full((3, 7, 4), 0.25)

    z = net(torch.randn(3, 2), torch.randn(3, 7, 2), theta, BANK, BANK)

    assert z.shape == (3, 7)


def test_the_selector_learns_through_the_weights_of_its_entries() -> None:
    net = network(selection="bilinear")
    theta = torch.full((1, 2, 4), 0.25)

    net(torch.randn(1, 2), torch.randn(1, 2, 2), theta, BANK, BANK[:1]).sum().backward()

    assert net.selector is not None
    gradient = net.selector.linear.weight.grad
    assert gradient is not None
    assert gradient.abs().sum() > 0


def test_the_defaults_are_the_papers() -> None:
    config = CompassConfig()

    assert (config.topics, config.entries, config.strongest, config.dropout) == (100, 50, 10, 0.1)
    assert (config.layers, config.selection) == (2, "concatenated")


def test_topics_that_cannot_be_divided_among_the_heads_are_refused() -> None:
    with pytest.raises(UsageError, match="4 heads, and 30 topics"):
        CompassConfig(topics=30)


def test_centroids_of_another_shape_are_refused() -> None:
    with pytest.raises(UsageError, match=r"milepost train"):
        Compass(SMALL, torch.zeros(3, 2))


def test_the_distillation_loss_is_computed_by_hand() -> None:
    logits, labels, teacher = torch.tensor([0.0]), torch.tensor([1.0]), torch.tensor([math.log(3)])

    loss = distillation_loss(logits, labels, teacher, alpha=0.25, temperature=1.0)

    hard = math.log(2)  # -log sigmoid(0)
    soft = 0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5)  # sigmoid(log 3) = 3/4
    assert loss.item() == pytest.approx(0.75 * hard + 0.25 * soft, abs=1e-6)


def test_the_divergence_is_torchs_over_two_outcomes() -> None:
    teacher, student = torch.randn(20) * 3, torch.randn(20) * 3

    ours = bernoulli_divergence(teacher, student)

    p = torch.stack([teacher.sigmoid(), (-teacher).sigmoid()], dim=1)
    log_q = torch.stack([functional.logsigmoid(student), functional.logsigmoid(-student)], dim=1)
    expected = functional.kl_div(log_q, p, reduction="none").sum(dim=1)
    assert torch.allclose(ours, expected, atol=1e-5)


def test_the_listwise_loss_is_computed_by_hand() -> None:
    logits = torch.tensor([[math.log(2), 0.0, 9.0]])
    present = torch.tensor([[True, True, False]])

    loss = listwise_loss(logits, torch.tensor([[1.0, 0.0, 0.0]]), present)

    assert loss.item() == pytest.approx(-math.log(2 / 3), abs=1e-6)


def test_lists_that_teach_no_order_do_not_count() -> None:
    logits = torch.randn(2, 3, requires_grad=True)
    labels = torch.tensor([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])

    loss = listwise_loss(logits, labels, torch.ones(2, 3, dtype=torch.bool))

    assert loss.item() == 0
    loss.backward()
