/** What can be done to runs from the command line, with real runs. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, describe, expect, test } from 'vitest';
import { isEvent, type RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { ofType } from '../../harness/records.ts';
import { jsonLines, newestRun } from './listed-runs.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

describe('a run', () => {
  const RANKS = 2;
  const ITERATIONS = 12;
  let records: readonly RunRecord[];
  const iterations = () => ofType(records, 'iteration');

  test('prints every record once', async () => {
    const { code, stdout, stderr } = await home.run([
      ...['run', 'digits-topk', '--json', '--set', `world.ranks=${RANKS}`],
      ...['--set', `iterations=${ITERATIONS}`, '--set', 'evaluateEvery=5'],
      ...['--set', 'exchange.layers=[{match: "*.bias", method: none}]'],
      ...['--set', 'exchange.warmupEpochs=0.024'],
      ...['--switch', '4:layers=[{match: layer3*, method: a2sgd}],quantize.bits=4'],
      ...['--switch', '8:method=scalecom,diagnosticsEvery=4'],
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    records = jsonLines<RunRecord>(stdout);
    const keys = iterations().map(({ iteration, rank }) => `${iteration}/${rank}`);
    expect(new Set(keys).size).toBe(RANKS * ITERATIONS);
    expect(keys).toHaveLength(RANKS * ITERATIONS);
    expect(records.filter(({ type }) => type === 'evaluation')).toMatchObject([
      { iteration: 4 },
      { iteration: 9 },
      { iteration: 11 },
    ]);
    expect(records.at(-1)).toMatchObject({
      type: 'done',
      reason: 'completed',
      consistent: true,
    });
  });

  test('gives layers methods of their own, changes them in a switch, and says so', () => {
    // 8000 samples on two ranks are 125 iterations of 32.
    expect(records.find(({ type }) => type === 'started')).toMatchObject({
      plan: {
        parameters: { warmupIterations: 3 },
        layers: [{ match: '*.bias', method: 'none', parameters: {} }],
      },
    });
    const [first, second, ...more] = records.filter(({ type }) => type === 'switch');
    expect(first).toMatchObject({
      fence: 4,
      from: { method: 'topk' },
      to: {
        method: 'topk',
        parameters: { quantize: { bits: 4, bucket: 512 } },
        layers: [{ match: 'layer3*', method: 'a2sgd' }],
      },
      residual: 'flushed',
      resynchronized: false,
    });
    expect(second).toMatchObject({
      fence: 8,
      to: { method: 'scalecom' },
      residual: 'kept',
      resynchronized: true,
    });
    expect(second).not.toHaveProperty('to.layers');
    expect(more).toEqual([]);
    expect(records.filter(({ type }) => type === 'similarity')).toMatchObject([
      { iteration: 11, buckets: [{ contraction: expect.any(Number) as number }] },
    ]);
  });

  test('is stored as it was printed, and exports the same', async () => {
    const { stdout: exported } = await commands.run(['runs', 'export', 'last']);
    const file = JSON.parse(exported) as {
      run: RunSummary;
      events: RunRecord[];
      buckets: RunRecord[];
      utilisation: RunRecord[];
      iterations: RunRecord[];
    };
    expect(file.run).toMatchObject({
      state: 'completed',
      iterations: ITERATIONS,
      methods: ['topk', 'scalecom'],
    });
    expect(file.events).toEqual(records.filter((record) => isEvent(record)));
    const sums = ofType(records, 'bucket-sums');
    expect(file.buckets).toEqual(
      sums.toSorted((a, b) => a.from - b.from || a.rank - b.rank),
    );
    expect(sums.length).toBeGreaterThan(RANKS);
    expect(file.utilisation).toEqual(ofType(records, 'utilisation'));
    expect(file.iterations).toEqual(
      iterations().toSorted((a, b) => a.iteration - b.iteration || a.rank - b.rank),
    );

    const { stdout: attached } = await commands.run([
      'runs',
      'attach',
      'last',
      '--json',
    ]);
    // Sums of buckets and the use of machines are read by themselves, as traces are.
    expect(jsonLines<RunRecord>(attached)).toEqual(
      records.filter(({ type }) => type !== 'bucket-sums' && type !== 'utilisation'),
    );

    const { stdout: csv } = await commands.run([
      ...['runs', 'export', 'last', '--format', 'csv'],
    ]);
    expect(csv.trimEnd().split('\n')).toHaveLength(1 + RANKS * ITERATIONS);

    const parquet = path.join(home.directory, 'switches.parquet');
    await commands.run([
      ...['runs', 'export', 'last', '--format', 'parquet', '--table', 'switches'],
      ...['--out', parquet],
    ]);
    const bytes = new Uint8Array(readFileSync(parquet)).buffer;
    const rows = await parquetReadObjects({ file: bytes });
    expect(rows.map(({ iteration }) => Number(iteration))).toEqual([4, 8]);
    const refused = await commands.run([
      ...['runs', 'export', 'last', '--table', 'events'],
    ]);
    expect(refused.stderr).toContain('EXPORT_TABLE_MISSING');
  });

  test('is launched again with its switches as they happened, and reads well', async () => {
    const { stdout, stderr, code } = await home.run(['runs', 'relaunch', 'last']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const list = await commands.run(['runs', 'list', '--json']);
    const runs = jsonLines<RunSummary>(list.stdout);
    expect(runs).toHaveLength(2);
    const [again, model] = runs;
    expect(again).toMatchObject({ methods: model!.methods, loss: model!.loss });

    expect(stdout).toMatch(/^run \w{8}: Digits: top-k 1 % \(fnn3 on digits, 2 ranks/);
    expect(stdout).toMatch(/── iteration 4: topk .* → topk.*residual flushed/);
    expect(stdout).toMatch(/── iteration 8: topk .* → scalecom.*residual kept/);
    expect(stdout).toMatch(/mean per iteration +topk\/\S+ +topk\/\S+ +scalecom\/\S+/);
    expect(stdout).toMatch(/ {2}wait +.* ms +\d+(\.\d)? %/);
    expect(stdout).toMatch(
      /completed after 12 iterations in .*, all replicas identical/,
    );
    expect(stdout).not.toContain('\u001b');

    const { stdout: id } = await home.run([
      ...['runs', 'relaunch', 'last', '--json', '--set', 'optimizer.lr=0.05'],
      ...['--set', 'world.ranks=1'],
    ]);
    expect(jsonLines<{ type: string; ranks?: number }>(id)).toContainEqual(
      expect.objectContaining({ type: 'started', ranks: 1 }),
    );
    const shown = await commands.run(['runs', 'show', 'last', '--json']);
    expect(shown.stdout).toContain('"lr":0.05');
  });

  test('leaves no supervisor behind', () => {
    expect(home.supervisors()).toEqual([]);
  });

  test('is taken off the list and put back, with others or not at all', async () => {
    const { id } = await newestRun(commands);
    await commands.run(['runs', 'delete', id]);
    const other = await newestRun(commands);
    expect(other.id).not.toBe(id);
    expect((await commands.run(['runs', 'show', id])).stdout).toContain(
      `\ndeleted; gradwire runs delete ${id} --undo restores it\n`,
    );
    await commands.run(['runs', 'delete', '--undo', id]);
    expect((await newestRun(commands)).id).toBe(id);
    const both = [id, other.id];
    const refused = await commands.run(['runs', 'delete', ...both, 'nosuchrun']);
    expect(refused.stderr).toContain('RUN_UNKNOWN');
    expect((await newestRun(commands)).id).toBe(id);
    const gone = await commands.run(['runs', 'delete', '--json', ...both, id]);
    expect(jsonLines(gone.stdout)).toEqual(both.map((run) => ({ run, deleted: true })));
    expect(both).not.toContain((await newestRun(commands)).id);
    succeeded(await commands.run(['runs', 'delete', '--undo', ...both]));
    expect((await newestRun(commands)).id).toBe(id);
  });
});
