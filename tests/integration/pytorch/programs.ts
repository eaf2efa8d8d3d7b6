/** PyTorch programs of these tests, as their users would write them. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-test-programs-'));

/** A file with the program; its lines are indented as in TypeScript. */
export function programFile(name: string, text: string): string {
  const lines = text.split('\n').slice(1);
  const indent = /^ */.exec(lines[0]!)![0].length;
  const file = path.join(folder, name);
  writeFileSync(file, lines.map((line) => line.slice(indent)).join('\n'));
  return file;
}

/** A network of four layers on random data, trained for a number of steps. */
const training = (attach: string, log: string): string => `
    import hashlib, sys
    import torch, torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    ${attach === '' ? '' : 'import gradwire'}

    steps = int(sys.argv[1])
    ${attach === '' ? '' : 'gw = gradwire.join()'}
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    layers = [torch.nn.Linear(64, 48), torch.nn.ReLU(), torch.nn.Linear(48, 48), torch.nn.ReLU()]
    model = DistributedDataParallel(torch.nn.Sequential(*layers, torch.nn.Linear(48, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    ${attach}
    noise = torch.Generator().manual_seed(dist.get_rank())
    truth = torch.randn(64, 4, generator=torch.Generator().manual_seed(7))
    for step in range(steps):
        batch = torch.randn(32, 64, generator=noise)
        loss = torch.nn.functional.cross_entropy(model(batch), (batch @ truth).argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ${log}
    flat = torch.cat([p.detach().flatten() for p in model.parameters()])
    print("digest", hashlib.sha256(flat.numpy().tobytes()).hexdigest())
    print("norm", f"{flat.norm().item():.9e}")
    dist.destroy_process_group()
    `;

export const plain = programFile('plain.py', training('', 'pass'));
export const joined = programFile(
  'joined.py',
  training('gw.attach(model, optimizer)', 'gw.log(loss=loss.item())'),
);
