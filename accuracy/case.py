"""What a case of the suite is, and what is known of it once it has run.

A case knows how to be timed natively and how to be modelled. Its name is unique and never changes: a hash of the part that
names the computation decides whether it is held out, so that all variants and sizes of a kernel are in the same half.
"""
import hashlib
from dataclasses import dataclass, field

MODELS = ("ooo", "abstract")  # timing models that every case is run under
NOISY = 0.03  # natively, the least cycles of two of the rounds differ by more


@dataclass
class Case:
    group: str                     # kernels, blocks, programs
    name: str                      # gemm/scalar/L1
    level: str = ""                # kernels: where the data lives on the modelled core; else ""
    bytes: int = 0                 # kernels: of its data
    what: list = field(default_factory=list)  # how to run it: the group's own business
    rounds: list = field(default_factory=list)  # native: least cycles of each round
    instructions: int = 0
    cycles: dict = field(default_factory=dict)  # modelled: by model, those that it was run under
    failed: str = ""               # why it could not be run or modelled

    @property
    def held_out(self):
        return hashlib.sha256(self.name.split("/")[0].encode()).digest()[0] % 2 == 1

    @property
    def native(self):
        return min(self.rounds, default=0)

    @property
    def spread(self):
        """By how much the second-fastest round exceeds the fastest: whether the least would be found again."""
        if len(self.rounds) < 2:
            return 0 if self.rounds else 1
        least, second = sorted(self.rounds)[:2]
        return round(second / least - 1, 5)  # as results.csv has it

    @property
    def noisy(self):
        return self.spread > NOISY

    @property
    def counts(self):
        return not self.failed and not self.noisy

    def counts_for(self, model):
        return self.counts and model in self.cycles

    def error(self, model):
        return self.cycles[model] / self.native - 1 if self.native else 0
