"""Small models trained twice, with PyTorch's own gradients and with all their ops rerouted: the losses must be equal."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from attrs import frozen
from emitted_python import nodes
from node_calls import reached
from reroute import CALLED, can_reroute, rerouted
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

STEPS = 5
TOLERANCE = 1e-12


class Block(nn.Module):  # type: ignore[misc]
    """A residual block of convolutions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The input with a correction."""
        return functional.relu(x + self.second(functional.relu(self.norm(self.first(x)))))


def resnet() -> nn.Module:
    """Two residual blocks."""
    return nn.Sequential(
        nn.Conv2d(3, 6, 3), Block(6), nn.MaxPool2d(2), Block(6), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4)
    )


class Gpt(nn.Module):  # type: ignore[misc]
    """Two layers of causal attention over tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(11, 8)
        self.places = nn.Parameter(torch.randn(6, 8) * 0.1)
        self.layers = nn.ModuleList(
            nn.ModuleDict({"norm": nn.LayerNorm(8), "qkv": nn.Linear(8, 24), "out": nn.Linear(8, 8), "mlp": nn.Linear(8, 8)})
            for _ in range(2)
        )
        self.head = nn.Linear(8, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """The logits of the last token."""
        x = self.tokens(ids) + self.places
        mask = torch.ones(6, 6).triu(1).bool()
        for layer in self.layers:
            q, k, v = layer["qkv"](layer["norm"](x)).split(8, dim=-1)
            scores = (q @ k.transpose(-2, -1) / 8**0.5).masked_fill(mask, float("-inf"))
            x = x + layer["out"](scores.softmax(-1) @ v)
            x = x + functional.gelu(layer["mlp"](x))
        return self.head(x[:, -1])


class Encoder(nn.Module):  # type: ignore[misc]
    """PyTorch's own transformer layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.head = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The logits of a sequence."""
        return self.head(self.layer(x).mean(1))


class Lstm(nn.Module):  # type: ignore[misc]
    """A recurrent network."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.LSTM(5, 7, num_layers=2, batch_first=True)
        self.head = nn.Linear(7, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The logits after the last step."""
        return self.head(self.cells(x)[0][:, -1])


@frozen(eq=False)
class Model:
    """A model and its inputs. `penalty`: whether its inputs are numbers, of which a gradient can be asked."""

    name: str
    make: Callable[[], nn.Module]
    data: Callable[[], torch.Tensor]


MODELS = [
    Model("ResNet", resnet, lambda: torch.randn(4, 3, 10, 10)),
    Model("GPT", Gpt, lambda: torch.randint(0, 11, (4, 6))),
    Model("TransformerEncoder", Encoder, lambda: torch.randn(4, 5, 8)),
    Model("LSTM", Lstm, lambda: torch.randn(4, 6, 5)),
]


def train(model: Model, penalty: bool, found: set[str]) -> list[float]:
    """The loss of each step; the names of nodes on the way go to `found`."""
    torch.manual_seed(0)
    network = model.make().double()
    data = model.data()
    target = torch.randint(0, 4, (len(data),))
    optimiser = torch.optim.SGD(network.parameters(), lr=0.05)
    losses = []
    for _ in range(STEPS):
        # The fused attention kernel has no second derivative upstream.
        with sdpa_kernel([SDPBackend.MATH] if penalty else [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
            loss = functional.cross_entropy(network(data), target)
        found |= {n.name() for n in reached((loss,))}
        if penalty:
            weights = [p for p in network.parameters() if p.requires_grad]
            grads = torch.autograd.grad(loss, weights, create_graph=True)
            loss = loss + 0.1 * torch.stack([g.pow(2).sum() for g in grads]).sum()
            found |= {n.name() for n in reached((loss,))}
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    """Train each model in both ways."""
    warnings.simplefilter("ignore")
    torch.set_default_dtype(torch.float64)
    known = nodes()
    passed = total = 0
    for model in MODELS:
        for penalty in (False, True):
            total += 1
            found: set[str] = set()
            theirs = train(model, penalty, found)
            names = sorted(n for n in found if n in known and can_reroute(known[n]))
            left = sorted(n for n in found if n in known and n not in names)
            CALLED.clear()
            with rerouted(names):
                mine = train(model, penalty, set())
            worst = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
            fine = worst <= TOLERANCE and bool(CALLED)
            passed += fine
            kind = "with gradient penalty" if penalty else "plain"
            uncalled = sorted(set(names) - set(CALLED))
            print(f"{model.name}, {kind}: {len(names)} nodes rerouted, losses differ by at most {worst:.1e}")
            for text, some in (("left in C++", left), ("used in place alone, which is another op", uncalled)):
                if some:
                    print(f"    {text}: {', '.join(some)}")
    print(f"models: {passed}/{total}")
    raise SystemExit(0 if passed == total else 1)


if __name__ == "__main__":
    main()
