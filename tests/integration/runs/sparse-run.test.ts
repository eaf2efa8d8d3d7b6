/** Models whose gradient is sparse by itself, trained by ranks that send no zeros. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documented } from '../../harness/documented.ts';
import { effort } from '../../harness/effort.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { ofType } from '../../harness/records.ts';

let home: GradwireHome;
const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-sparse-'));
beforeAll(() => {
  home = new GradwireHome();
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const fileOf = (name: string, content: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
};

const train = (...settings: readonly string[]) =>
  home.startQuickstart([
    ...['optimizer.momentum=0', 'optimizer.lr=0.5', 'backend=wasm'],
    ...['iterations=30', 'evaluateEvery=10', 'world.ranks=2'],
    ...['workload.dataset=sparse', ...settings],
  ]);

async function trained(...settings: readonly string[]) {
  const run = train(...settings);
  succeeded(await run.finished);
  const iterations = ofType(run.records, 'iteration');
  return {
    done: ofType(run.records, 'done')[0]!,
    losses: iterations.map(({ loss, rank, iteration }) => [iteration, rank, loss]),
    evaluations: ofType(run.records, 'evaluation').map(({ loss }) => loss),
    wireBytes: iterations.reduce((sum, { bytes }) => sum + bytes.wireSent!, 0),
  };
}

const models = ['linear-svm', 'logistic-regression'];
describe.each(models.slice(0, effort({ quick: 1, soak: 2 })))('%s', (model) => {
  test(
    'learns to the bit what it learns without compression, with less sent',
    { tags: 'soak' },
    async () => {
      const dense = await trained(`workload.model=${model}`, 'exchange.method=none');
      const sparse = await trained(
        `workload.model=${model}`,
        'exchange.method=nonzero',
      );
      expect(sparse.done.weights).toBe(dense.done.weights);
      expect(sparse.evaluations).toEqual(dense.evaluations);
      expect(sparse.losses.toSorted()).toEqual(dense.losses.toSorted());
      expect(sparse.evaluations.at(-1)).toBeLessThan(sparse.evaluations[0]!);
      // At most 32 samples of 40 features, 8 bytes each, of 4 · 65,537 bytes.
      expect(sparse.wireBytes * 15).toBeLessThan(dense.wireBytes);
    },
  );
});

test('a switch in the middle changes what is sent and nothing else', async () => {
  const model = 'workload.model=logistic-regression';
  const straight = await trained(model, 'exchange.method=none');
  const file = fileOf(
    'spec.yaml',
    [
      'name: switched',
      'workload: { model: logistic-regression, dataset: sparse }',
      'world: { ranks: 2 }',
      'optimizer: { lr: 0.5, momentum: 0 }',
      'backend: wasm',
      'iterations: 30',
      'evaluateEvery: 10',
    ].join('\n'),
  );
  const switched = succeeded(
    await home.run(['run', file, '--json', '--switch', '10:method=nonzero']),
  );
  const done = switched.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; weights?: string })
    .find(({ type }) => type === 'done');
  expect(done!.weights).toBe(straight.done.weights);
});

test(
  'a table of a model of one’s own trains as the documentation has it',
  { tags: 'soak' },
  async () => {
    const model = fileOf(
      'bag-of-features.ts',
      documented('models.md', 'ts', '// bag-of-features.ts'),
    );
    const { done, evaluations } = await trained(
      ...[`workload.model=${model}`, 'exchange.method=nonzero', 'optimizer.lr=0.2'],
    );
    expect(done).toMatchObject({ consistent: true });
    expect(evaluations.at(-1)).toBeLessThan(evaluations[0]!);
  },
);

test('a file with a fault is refused before a rank starts', async () => {
  const file = fileOf('some.data', '1 1:1\n0 2:x\n');
  const run = train(
    ...['workload.model=linear-svm', 'workload.dataset=svmlight'],
    `workload.data=${file}`,
  );
  const { code, stderr } = await run.finished;
  expect(code).toBe(2);
  expect(stderr).toContain('DATA_MISMATCH');
  expect(stderr).toContain(`${file}, line 2: "2:x"`);
  expect(run.records).toEqual([]);
});
