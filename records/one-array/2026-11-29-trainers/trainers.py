"""ElasticSampler in the trainers that docs/one-array.md names: which rows each epoch sees.

Needs torch, torchdata, lightning and accelerate beside headwater:
python trainers.py > trainers.txt
"""

import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version

import headwater
from headwater.torch import ElasticSampler

N, KEY = 100, headwater.Key(42)


def right(epoch):
    order = KEY.child(b"epoch").child(epoch).stream(0).permutation(N)
    return [order.at(place) for place in range(N)]


def lightning(folder, devices, epochs, position=0, save=None, load=None, early=False):
    """Returns the rows that each epoch saw, in each process."""
    import lightning as L
    import torch
    from torchdata.stateful_dataloader import StatefulDataLoader

    class Model(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer, self.seen = torch.nn.Linear(1, 1), {}

        def training_step(self, batch, number):
            self.seen.setdefault(self.current_epoch, []).extend(batch.tolist())
            return self.layer(batch.float().reshape(-1, 1)).sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.0)

        def on_train_epoch_end(self):
            with open(os.path.join(folder, f"rank{self.global_rank}"), "w") as file:
                json.dump(self.seen, file)

    class Saved(L.Callback):
        def on_train_batch_end(self, trainer, *more):
            if save and trainer.global_step == 28:
                trainer.save_checkpoint(save)

    class Rows(L.LightningDataModule):
        def train_dataloader(self):
            sampler = ElasticSampler(N, KEY, position=position)
            return StatefulDataLoader(range(N), sampler=sampler, batch_size=5)

    rows = Rows().train_dataloader() if early else Rows()
    more = {"devices": devices, "strategy": "ddp_fork"} if devices > 1 else {"devices": 1}
    trainer = L.Trainer(
        accelerator="cpu", max_epochs=epochs, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, callbacks=[Saved()], **more,
    )  # fmt: skip
    trainer.fit(Model(), rows, ckpt_path=load, **({"weights_only": False} if load else {}))


def accelerated(folder):
    from accelerate import PartialState
    from torch.utils.data import DataLoader

    state = PartialState(cpu=True)
    loader = DataLoader(range(N), sampler=ElasticSampler(N, KEY), batch_size=5)
    seen = {}
    for epoch in range(2):
        loader.sampler.set_epoch(epoch)
        seen[epoch] = [row for batch in loader for row in batch.tolist()]
    with open(os.path.join(folder, f"rank{state.process_index}"), "w") as file:
        json.dump(seen, file)
    state.destroy_process_group()


def steps(folder):
    """Returns the rows of each epoch in their order: those of all processes, step by step."""
    ranks = [json.load(open(os.path.join(folder, name))) for name in sorted(os.listdir(folder))]
    epochs = {int(epoch): [rank[epoch] for rank in ranks] for epoch in ranks[0]}
    return {epoch: [row for step in zip(*parts) for row in step] for epoch, parts in epochs.items()}


def run(what, *more):
    with tempfile.TemporaryDirectory() as folder:
        code = [sys.executable, "-W", "ignore", *more[0], __file__, *more[1](folder)]
        ran = subprocess.run(code, capture_output=True, text=True)
        if ran.returncode:
            errors = [line for line in ran.stderr.splitlines() if "Error: " in line]
            print(f"{what}: {errors[-1][:220]}", flush=True)
            return
        for epoch, rows in steps(folder).items():
            whole = right(epoch)
            name = "the epoch" if rows == whole else "its rest" if rows == whole[-len(rows) :] else "others"
            print(f"{what}: epoch {epoch}: {len(rows)} rows, {name}", flush=True)


def main():
    print(*(f"{name} {version(name)}" for name in ("torch", "torchdata", "lightning", "accelerate")), sep=", ")
    checkpoint = os.path.join(tempfile.gettempdir(), "headwater-trainers.ckpt")
    call = lambda **named: lambda folder: ["lightning", json.dumps({"folder": folder, **named})]
    run("Lightning, one process", [], call(devices=1, epochs=2, save=checkpoint))
    run("Lightning, from a checkpoint after 28 of 40 steps", [], call(devices=1, epochs=4, load=checkpoint))
    run("Lightning, a new Trainer from position 60", [], call(devices=1, epochs=2, position=60))
    run("Lightning, two processes", [], call(devices=2, epochs=2))
    run("Lightning, two processes, a sampler made before them", [], call(devices=2, epochs=2, early=True))
    torchrun = ["-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=29655"]
    run("accelerate, two processes, without prepare()", torchrun, lambda folder: ["accelerated", folder])


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    elif sys.argv[1] == "lightning":
        lightning(**json.loads(sys.argv[2]))
    else:
        accelerated(sys.argv[2])
