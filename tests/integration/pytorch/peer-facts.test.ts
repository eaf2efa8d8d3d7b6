/** Facts about the PyTorch of the benchmarks' peers, told by a real one. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { TorchFacts } from '../../../bench/peers/torch-facts.ts';
import { pytorch } from '../../harness/python.ts';

const peers = path.join(import.meta.dirname, '../../../bench/peers');
const CODE = `
import json, torch, torch_facts
torch.set_num_threads(3)
print(json.dumps(torch_facts.facts()))`;

test.skipIf(pytorch === undefined)(
  'PyTorch tells its version, threads and kernels',
  () => {
    const env = { ...process.env, PYTHONPATH: peers, PYTHONDONTWRITEBYTECODE: '1' };
    const { stdout } = spawnSync(pytorch!, ['-c', CODE], { encoding: 'utf8', env });
    const told = JSON.parse(stdout) as TorchFacts;
    expect(told.threads).toBe(3);
    expect(told.torch).toMatch(/^\d+\.\d+/);
    expect(told.blas).toMatch(/^(no )?MKL$/);
    expect(told.capability).toMatch(/^\w+$/);
  },
);
