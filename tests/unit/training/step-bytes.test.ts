/** The memory that a step is said to need, beside what jax-js itself says that it takes. */
import { afterEach, expect, test, vi } from 'vitest';
import {
  allocateBatch,
  settledFields,
} from '../../../src/agent/training/batches/batch.ts';
import { compile } from '../../../src/agent/training/compiled-functions.ts';
import { stepBytes } from '../../../src/agent/training/inspect/step-bytes.ts';
import type { UsedWeights } from '../../../src/agent/training/models/mean-loss.ts';
import type { Model } from '../../../src/agent/training/models/model.ts';
import { openJaxRuntime } from '../../../src/agent/training/runtime/jax-runtime.ts';
import { findWorkload } from '../../../src/agent/training/find-workload.ts';
import { effort } from '../../harness/effort.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The most that the library's compiled step has taken and not yet given back, as it prints it. */
async function printedBytes(model: Model, rows: number): Promise<number> {
  const { jax } = await openJaxRuntime({ backend: 'wasm', threads: 1 });
  const fields = settledFields(model.inputs, {});
  const used: UsedWeights = {
    whole: model.tensors.map(({ shape }) => jax.numpy.zeros([...shape])),
    rows: [],
  };
  const batch = Object.fromEntries(
    Object.entries(allocateBatch(fields, rows)).map(([name, values]) => {
      return [name, jax.numpy.array(values, { shape: [rows, ...fields[name]!.shape] })];
    }),
  );
  const printed: string[] = [];
  vi.spyOn(console, 'info').mockImplementation((text: unknown) => {
    printed.push(String(text));
  });
  jax.setDebug(4);
  try {
    const [[loss]] = compile(jax, model, { batchPerRank: rows }).lossAndGradient(
      used,
      batch,
    );
    await loss.data();
  } finally {
    jax.setDebug(0);
  }
  const program = printed.filter((text) => text.includes('malloc')).at(-1)!;
  let taken = 0;
  let most = 0;
  const sizes = new Map<string, number>();
  const step = /%(\d+) = malloc <(\d+) bytes>|free (\d+)/g;
  for (const [, made, size, freed] of program.matchAll(step)) {
    if (made === undefined) taken -= sizes.get(freed!)!;
    else {
      sizes.set(made, Number(size));
      taken += Number(size);
    }
    most = Math.max(most, taken);
  }
  return most;
}

const workloads: readonly [string, string, number][] = [
  ['fnn3', 'digits', 67],
  ['lstm-small', 'sentences', 9],
  ['resnet-20', 'shapes', 3],
];

test.each(workloads.slice(0, effort({ quick: 2, soak: 3 })))(
  '%s of %s, %i samples',
  async (model, dataset, rows) => {
    const names = { model, dataset, optimizer: 'sgd' };
    const { model: found } = findWorkload(names);
    const { computing, compiling } = await stepBytes(found, rows);
    const printed = await printedBytes(found, rows);
    expect(computing / printed).toBeGreaterThan(0.95);
    expect(computing / printed).toBeLessThan(1.05);
    expect(compiling).toBeGreaterThan(0);
  },
);
