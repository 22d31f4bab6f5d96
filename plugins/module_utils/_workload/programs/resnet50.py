# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program resnet50: training of ResNet-50 with invented pictures on all GPUs of a node, one process each.

It prints the table of the training example in NVIDIA's TensorFlow images of 2019: step, epoch, pictures per
second, loss, total loss, learning rate. Variant 2019 runs that example itself, in the image that the user
names.
"""

from __future__ import annotations

import re
import statistics
import typing as t

from . import devices, images, readings
from .program import Figure, Finding, GpuNode, Program, Result, Settings

STEPS: t.Final = 90
_EVERY: t.Final = 10
# The first steps compile and tune; the last one of the old example is short.
_WARM: t.Final = 20
_WORKER: t.Final = f"""\
import sys, time, torch, torchvision
gpu, batch = sys.argv[1], 256
model = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
loss_of = torch.nn.CrossEntropyLoss().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = torch.cuda.amp.GradScaler()
def make(size):
    pictures = torch.randn(size, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    return pictures, torch.randint(0, 1000, (size,), device="cuda")
def step(pictures, classes):
    optimizer.zero_grad(set_to_none=True)
    with torch.autocast("cuda", dtype=torch.float16):
        loss = loss_of(model(pictures), classes)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss
while True:
    try:
        data = make(batch)
        step(*data)
        break
    except torch.cuda.OutOfMemoryError:
        if batch == 16:
            raise
        batch //= 2
        data = None
        torch.cuda.empty_cache()
torch.cuda.synchronize()
print(f"gpu={{gpu}} batch_size={{batch}}", flush=True)
start = time.perf_counter()
for number in range(1, {STEPS} + 1):
    loss = step(*data)
    if number == 1 or number % {_EVERY} == 0:
        value = loss.item()
        now = time.perf_counter()
        done = 1 if number == 1 else (9 if number == {_EVERY} else {_EVERY})
        print(f"gpu={{gpu}} {{number:6d}} {{number:5.1f}} {{batch * done / (now - start):7.1f}} "
              f"{{value:6.3f}} {{value:6.3f}} {{0.1:7.5f}}", flush=True)
        start = now
"""
_PROGRAM: t.Final = f"""\
{devices.IN_PYTHON}WORKER = '''{_WORKER}'''
print("  Step Epoch Img/sec  Loss    LR", flush=True)
workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(number)],
                            env={{**os.environ, "CUDA_VISIBLE_DEVICES": uuid, "HOME": "/tmp"}})
           for number, uuid in enumerate(uuids)]
sys.exit(max([worker.wait() != 0 for worker in workers], default=True))
"""
# The example of the old image, with the settings of the walk-through.
_OLD: t.Final = (
    "cd /workspace/nvidia-examples/cnn 2>/dev/null || cd /workspace\n"
    "python resnet.py --layers=50 --batch_size=256 --num_iter=90 --display_every=10 --iter_unit=batch "
    "--precision=fp16 2>&1"
)
_LINE: t.Final = re.compile(
    r"^(?:gpu=(?P<gpu>\d+))?[ \t]+(?P<step>\d+)[ \t]+(?P<epoch>\d+\.\d+)[ \t]+(?P<rate>\d+\.\d+)[ \t]+"
    r"(?P<loss>\S+)[ \t]+(?P<total>\S+)[ \t]+(?P<lr>\d\S*)[ \t]*$",
    re.MULTILINE,
)


def script(settings: Settings, _node: GpuNode) -> str:
    """Return the script of a pod that has all devices of the node; the old example uses the first one."""
    command = _OLD if settings.variant == "2019" else f"python3 - <<'PROGRAM'\n{_PROGRAM}PROGRAM"
    return f"{devices.LIST}\nexport HOME=/tmp\n{readings.beside(command)}"


def parse(log: str, settings: Settings) -> Result:
    """Return the median of pictures per second of each device, without the steps that warm up.

    A device without a figure, or with a loss that is not finite, did not pass.
    """
    uuids, beside = tuple(devices.uuids(log)), readings.parse(log)
    rates: dict[int, list[float]] = {}
    findings = list(beside)
    for line in _LINE.finditer(log):
        number = int(line["gpu"] or 0)
        if line["total"].lower() in ("nan", "inf", "-inf"):
            findings.append(
                Finding("resnet50", "fail", f"the loss is {line['total']}", devices.at(uuids, number))
            )
        if int(line["step"]) > _WARM:
            rates.setdefault(number, []).append(float(line["rate"]))
    wanted = uuids[:1] if settings.variant == "2019" else uuids
    for number, uuid in enumerate(wanted):
        if number not in rates:
            findings.append(Finding("resnet50", "fail", "it measured nothing", uuid))
    figures = tuple(
        Figure("images", round(statistics.median(found), 1), "img/s", devices.at(uuids, number))
        for number, found in sorted(rates.items())
    )
    is_good = bool(figures) and bool(uuids) and not any(one.status == "fail" for one in findings)
    extra = {"peak": max(max(found) for found in rates.values())} if rates else {}
    return Result(is_good, uuids, figures, tuple(dict.fromkeys(findings)), extra=extra)


PROGRAM: t.Final = Program(
    "node",
    image=images.pytorch,
    script=script,
    parse=parse,
    seconds=lambda _settings: 600,
    cpu=1,
    memory=8192,
    shared_memory=1,
    takes_shares=True,
)
