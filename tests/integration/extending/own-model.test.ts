/** Models in files of the user's own, from the command line to the end of a run. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { documented } from '../../harness/documented.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { ofType } from '../../harness/records.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-models-'));
const write = (name: string, text: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
};
const twoLayer = write(
  'two-layer.ts',
  documented('models.md', 'ts', '// two-layer.ts'),
);
const autoencoder = write(
  'autoencoder.ts',
  documented('models.md', 'ts', '// autoencoder.ts'),
);
const nextToken = write(
  'next-token.ts',
  documented('models.md', 'ts', '// next-token.ts'),
);

let home: GradwireHome;
beforeAll(() => {
  home = new GradwireHome();
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const train = (model: string, more: readonly string[] = []) =>
  home.startQuickstart([
    ...['world.ranks=2', 'iterations=12', 'evaluateEvery=0', 'backend=wasm'],
    ...[`workload.model=${model}`, ...more],
  ]);

describe('a classifier', () => {
  test('trains on two ranks, and learns', async () => {
    const run = train(twoLayer, ['iterations=40']);
    succeeded(await run.finished);
    const [started] = ofType(run.records, 'started');
    expect(started).toMatchObject({ parameters: 25_450 });
    expect(started).not.toHaveProperty('metricKind');
    const [done] = ofType(run.records, 'done');
    expect(done).toMatchObject({ consistent: true, iterations: 40 });
    expect(done!.metric).toBeGreaterThan(0.6);
  });

  test(
    'is run again from its record when its file is gone',
    { tags: 'soak' },
    async () => {
      const file = write('gone.ts', documented('models.md', 'ts', '// two-layer.ts'));
      const run = train(file);
      succeeded(await run.finished);
      rmSync(file);
      const again = succeeded(await home.run(['runs', 'relaunch', 'last', '--json']));
      const ends = (text: string): unknown[] =>
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { type: string; weights?: string })
          .filter(({ type }) => type === 'done')
          .map(({ weights }) => weights);
      expect(ends(again.stdout)).toEqual([ofType(run.records, 'done')[0]!.weights]);
      const shown = succeeded(await home.run(['runs', 'show', 'last']));
      expect(shown.stdout).toContain('    const hidden = 32;\n');
    },
  );
});

test(
  'a run goes on with its model after its supervisor was killed',
  { tags: 'soak' },
  async () => {
    const run = train(twoLayer, [
      ...['iterations=1000000', 'onFailure=restart', 'checkpointEvery=20'],
    ]);
    await run.record('checkpoint');
    const [supervisor] = home.supervisors();
    process.kill(supervisor!.pid, 'SIGKILL');
    await run.record('restarted');
    succeeded(await home.run(['runs', 'stop', 'last']));
    succeeded(await run.finished);
    const end = { reason: 'stopped', consistent: true };
    expect(ofType(run.records, 'done')).toMatchObject([end]);
  },
);

describe('a model with an objective of its own', () => {
  test('is measured by its own metric in every place', async () => {
    const run = train(autoencoder, ['exchange.method=topk', 'exchange.ratio=0.1']);
    succeeded(await run.finished);
    const kind = { id: 'mse', title: 'mean squared error', better: 'lower' };
    for (const type of ['started', 'evaluation', 'done'] as const) {
      expect(ofType(run.records, type)[0]).toMatchObject({ metricKind: kind });
    }
    const [done] = ofType(run.records, 'done');
    // Of pixels in 0…1, most of which are 0.
    expect(done!.metric).toBeGreaterThan(0);
    expect(done!.metric).toBeLessThan(0.3);
    const { stdout } = succeeded(await home.run(['runs', 'list']));
    expect(stdout).toMatch(/mean squared error 0\.\d{4}/);
  });

  test(
    'may have an object for a metric, and a function for initial values',
    { tags: 'soak' },
    async () => {
      const file = write(
        'balanced.ts',
        documented('models.md', 'ts', '// balanced.ts'),
      );
      const run = train(file, ['iterations=40']);
      succeeded(await run.finished);
      const kind = { id: 'balanced-accuracy', format: 'share', better: 'higher' };
      const [done] = ofType(run.records, 'done');
      expect(done).toMatchObject({ consistent: true, metricKind: kind });
      expect(done!.metric).toBeGreaterThan(0.5);
      expect(done!.metric).toBeLessThanOrEqual(1);
    },
  );

  test('fits only what has its fields', async () => {
    const { code, stderr } = await train(autoencoder, ['workload.dataset=sentences'])
      .finished;
    expect(code).toBe(2);
    expect(stderr).toContain(
      'MODEL_DATASET_MISMATCH: autoencoder needs "inputs", but a sample of sentences has only: tokens',
    );
  });
});

describe('a model of layers', () => {
  const tied = ['workload.dataset=sentences', 'workload.batchPerRank=8'];

  test(
    'is trained by a rank for each of its stages as by one',
    { tags: 'soak' },
    async () => {
      const lossesOf = async (
        settings: readonly string[],
      ): Promise<readonly number[]> => {
        const run = train(nextToken, [...tied, 'exchange.method=none', ...settings]);
        succeeded(await run.finished);
        expect(ofType(run.records, 'done')[0]).toMatchObject({ consistent: true });
        // 128 · 32, 96 · 32 and 128; the tensor that both stages use counts once.
        expect(ofType(run.records, 'started')[0]!.parameters).toBe(7296);
        return ofType(run.records, 'iteration').flatMap(({ loss }) => loss ?? []);
      };
      const alone = await lossesOf(['world.ranks=1']);
      const staged = await lossesOf(['parallelism.pipeline.splitAfter=[mixed]']);
      expect(staged).toHaveLength(12);
      for (const [i, loss] of alone.entries()) {
        expect(Math.abs(staged[i]! - loss), `iteration ${i}`).toBeLessThan(1e-4);
      }
      expect(alone.at(-1)).toBeLessThan(alone[0]!);
    },
  );

  test('lists the layers after which it can be split', { tags: 'soak' }, async () => {
    const { code, stderr } = await train(nextToken, [
      ...[...tied, 'parallelism.pipeline.splitAfter=[mix]'],
    ]).finished;
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^gradwire: SPLIT_UNKNOWN: next-token\.ts has no layer "mix" .*Its layers: embedding, mixed, scores\.\n$/,
    );
    const { stderr: whole } = await train(twoLayer, [
      'parallelism.pipeline.splitAfter=[hidden]',
    ]).finished;
    expect(whole).toMatch(
      /^gradwire: PIPELINE_MISFIT: two-layer\.ts cannot be split: .*docs\/models\.md.*\n$/,
    );
  });
});

describe('a file whose code ends the process of its rank', () => {
  const documentedModel = documented('models.md', 'ts', '// two-layer.ts');
  /** Does it in a rank alone, so that it passes what is checked before. */
  const inRank = (name: string, what: string): string =>
    write(name, `${documentedModel}\nif (process.title.includes('worker')) ${what};\n`);
  const line = documentedModel.split('\n').length + 1;

  test.each([
    ['at once', 'process.exit(0)', '0'],
    ['later', 'setTimeout(() => process.exit(3), 1)', '3'],
  ])('by process.exit, %s, is named with the line', async (when, what, code) => {
    const file = inRank(`exits-${when.replace(' ', '-')}.ts`, what);
    const run = train(file, ['iterations=1000000']);
    const { code: ended, stderr } = await run.finished;
    expect(ended).toBe(2);
    expect(stderr).toContain(
      `${path.basename(file)}: line ${line}: it calls process.exit(${code}), which would end the rank: throw an error instead`,
    );
    expect(stderr).toMatch(/^gradwire: MODEL_FILE_INVALID: /m);
    expect(stderr).not.toContain('whoever gave you Gradwire');
  });

  test('by process.abort, is a rank that died', { tags: 'soak' }, async () => {
    const run = train(inRank('aborts.ts', 'process.abort()'));
    const { code, stderr } = await run.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^gradwire: WORKER_DIED: .* was killed by SIGABRT/m);
  });
});

test('a file that is not there costs one line and no run', async () => {
  const { code, stderr } = await train(path.join(folder, 'nope.ts')).finished;
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^gradwire: MODEL_FILE_UNREADABLE: .*nope\.ts does not exist \(workload\.model\)\. Give the path/m,
  );
  expect(home.processes('gradwire worker')).toEqual([]);
});
