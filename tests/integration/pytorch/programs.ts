/** PyTorch programs of these tests, as their users would write them. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-test-programs-'));

/** A file with the program; its lines are indented as in TypeScript. */
function programFile(name: string, text: string): string {
  const lines = text.split('\n').slice(1);
  const indent = /^ */.exec(lines[0]!)![0].length;
  const file = path.join(folder, name);
  writeFileSync(file, lines.map((line) => line.slice(indent)).join('\n'));
  return file;
}

/**
 * A network of three layers on random data, trained for a number of steps; with the argument `end`
 * it says that the training has ended before it looks at its weights.
 */
export const joined = programFile(
  'joined.py',
  `
    import hashlib, sys
    import gradwire, torch, torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    steps = int(sys.argv[1])
    gw = gradwire.join()
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    layers = [torch.nn.Linear(64, 48), torch.nn.ReLU(), torch.nn.Linear(48, 48), torch.nn.ReLU()]
    model = DistributedDataParallel(torch.nn.Sequential(*layers, torch.nn.Linear(48, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    gw.attach(model, optimizer)
    noise = torch.Generator().manual_seed(dist.get_rank())
    truth = torch.randn(64, 4, generator=torch.Generator().manual_seed(7))
    for step in range(steps):
        batch = torch.randn(32, 64, generator=noise)
        loss = torch.nn.functional.cross_entropy(model(batch), (batch @ truth).argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        gw.log(loss=loss.item())
    if "end" in sys.argv:
        gw.end()
    flat = torch.cat([p.detach().flatten() for p in model.parameters()])
    print("digest", hashlib.sha256(flat.numpy().tobytes()).hexdigest())
    dist.destroy_process_group()
    `,
);

/** Two models that have another communication hook, one before it is attached and one after. */
export const twoHooks = programFile(
  'two_hooks.py',
  `
    import gradwire, torch, torch.distributed as dist
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
    from torch.nn.parallel import DistributedDataParallel

    gw = gradwire.join()
    dist.init_process_group("gloo")
    first = DistributedDataParallel(torch.nn.Linear(2, 2))
    first.register_comm_hook(None, fp16_compress_hook)
    try:
        gw.attach(first, torch.optim.SGD(first.parameters(), lr=0.1))
    except gradwire.GradwireError as error:
        print("before", error, flush=True)
    second = DistributedDataParallel(torch.nn.Linear(2, 2))
    gw.attach(second, torch.optim.SGD(second.parameters(), lr=0.1))
    try:
        second.register_comm_hook(None, fp16_compress_hook)
    except gradwire.GradwireError as error:
        print("after", error, flush=True)
    second(torch.ones(1, 2)).sum().backward()
    gw.end()
    dist.destroy_process_group()
    `,
);

/**
 * A plain DDP program of several buckets, which rank 1 slows down: its backward pass waits for a
 * while before the last bucket is ready. With the argument `norm` its model has batch norms, whose
 * buffers all ranks take from rank 0, and rank 0 is slow to fetch its data instead.
 */
export const straggling = programFile(
  'straggling.py',
  `
    import sys, time
    import torch, torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    steps, delay = int(sys.argv[1]), float(sys.argv[2])
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    layers = [torch.nn.Linear(256, 256) for _ in range(6)]
    norm = "norm" in sys.argv
    if norm:
        layers.append(torch.nn.BatchNorm1d(256))
    model = DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if rank == 1 and not norm:
        layers[1].register_full_backward_hook(lambda *_: time.sleep(delay))
    for step in range(steps):
        batch = torch.randn(16, 256)
        if rank == 0 and norm:
            time.sleep(delay)
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()
    `,
);
