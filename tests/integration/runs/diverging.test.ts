/** Runs whose numbers leave what a float can hold: each ends, and says why. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { ofType } from '../../harness/records.ts';
import { SupervisorNode } from './supervisor-node.ts';

const find = <T extends RunRecord['type']>(records: readonly RunRecord[], type: T) =>
  ofType(records, type).at(0);

const warnings = (records: readonly RunRecord[]): readonly string[] =>
  records.flatMap((record) =>
    record.type === 'notice' && record.level === 'warning' ? [record.code] : [],
  );

describe('the command of a run that diverges', () => {
  const home = new GradwireHome();
  afterAll(() => home[Symbol.asyncDispose]());

  // The scores of one rank's batch overflow in their loss, but not in their gradient.
  it('fails by a loss that is not finite, of a rank and an iteration', async () => {
    const command = home.startQuickstart([
      ...['world.ranks=2', 'iterations=8', 'evaluateEvery=0', 'optimizer.lr=1.5e13'],
    ]);
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^gradwire: LOSS_NOT_FINITE: .* Lower the learning rate/);
    expect(ofType(command.records, 'alert')).toMatchObject([
      { rule: 'loss-not-finite', phase: 'raised', rank: expect.any(Number) as number },
    ]);
    expect(command.records.at(-1)).toMatchObject({ type: 'failed' });
    expect(find(command.records, 'failed')!.error).toMatchObject({
      code: 'LOSS_NOT_FINITE',
      message: expect.stringMatching(
        /training loss is (NaN|Infinity) in iteration 1$/,
      ) as string,
      place: expect.stringMatching(/^rank [01]$/) as string,
    });
    const { processes } = find(command.records, 'started')!;
    const left = home.processes('gradwire worker').map(({ pid }) => pid);
    expect(processes.filter(({ pid }) => left.includes(pid))).toEqual([]);
  });

  it('completes where only its last evaluation is not finite, and says so', async () => {
    const command = home.startQuickstart([
      ...['world.ranks=1', 'iterations=1', 'optimizer.lr=1e20'],
    ]);
    const { code, stderr, stdout } = await command.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toMatch(/NaN,|null/);
    const evaluation = find(command.records, 'evaluation')!;
    expect(evaluation).not.toHaveProperty('loss');
    expect(evaluation).toMatchObject({
      iteration: 0,
      metric: expect.any(Number) as number,
    });
    expect(warnings(command.records)).toEqual(['EVALUATION_NOT_FINITE']);
    expect(find(command.records, 'done')).toMatchObject({
      reason: 'completed',
      iterations: 1,
    });
  });

  it('raises alerts by the rules of the home, and tells each to a command of the user', async () => {
    const file = path.join(home.directory, 'alerts.jsonl');
    for (const [key, value] of [
      ['alerts.loss-rising.iterations', '1'],
      ['alerts.at-chance.iterations', '12'],
      ['notify.command', `cat >> '${file}'; echo 'is broken' >&2; exit 3`],
    ] as const) {
      expect(await home.run(['settings', 'set', key, value])).toMatchObject({
        code: 0,
      });
    }
    const command = home.startQuickstart([
      ...['world.ranks=1', 'iterations=12', 'evaluateEvery=0', 'optimizer.lr=10'],
    ]);
    const { code, stderr } = await command.finished;
    expect(code).toBe(0);
    // Told once, though it failed for each alert.
    expect(stderr.match(/ALERT_NOT_DELIVERED.*3: is broken/g)).toHaveLength(1);
    const raised = ofType(command.records, 'alert').filter(
      ({ phase }) => phase === 'raised',
    );
    const rules = raised.map(({ rule }) => rule);
    expect(new Set(rules)).toEqual(new Set(['loss-rising', 'at-chance']));
    const told = readFileSync(file, 'utf8').trim().split('\n');
    expect(told.map((line) => (JSON.parse(line) as { rule: string }).rule)).toEqual(
      rules,
    );

    const listed = await home.run([
      'runs',
      'list',
      '--json',
      '--filter',
      'alert:at-chance',
    ]);
    expect(JSON.parse(listed.stdout)).toMatchObject({
      state: 'completed',
      alerts: expect.arrayContaining([
        { rule: 'at-chance', title: 'At chance', times: 1, isOpen: true },
      ]) as unknown,
    });
    const shown = await home.run(['runs', 'show', 'last']);
    expect(shown.stdout).toMatch(/^alerts .*At chance/m);
    expect(shown.stdout).toMatch(
      /^alert: At chance: accuracy [\d.]+ % at the end; guessing/m,
    );
  });

  it('leaves no run open', async () => {
    const { code, stderr, stdout } = await home.run(['runs', 'list', '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n').filter((line) => line !== '');
    const states = lines.map((line) => (JSON.parse(line) as RunSummary).state);
    expect(states).toEqual(['completed', 'completed', 'failed']);
  });
});

describe('a run that diverges', { tags: 'soak' }, () => {
  let node: SupervisorNode;
  beforeAll(async () => {
    node = await SupervisorNode.start();
  });
  afterAll(() => node[Symbol.asyncDispose]());

  it('goes on after an evaluation that is not finite until training itself fails', async () => {
    const records = await node.train({
      world: { ranks: 2 },
      iterations: 8,
      optimizer: { lr: 1e20 },
      evaluateEvery: 1,
    });
    // Past the evaluation of iteration 0. What it noticed may be lost: the rank that tells
    // it for all is killed when another one fails.
    expect(find(records, 'failed')!.error).toMatchObject({
      code: 'GRADIENT_NOT_FINITE',
      message: expect.stringMatching(
        /tensor \S+ is (NaN|-?Infinity).*iteration 1/,
      ) as string,
      place: expect.stringMatching(/^rank \d$/) as string,
    });
  });

  it('records no drift of weights that are not finite, and says so', async () => {
    const records = await node.train({
      world: { ranks: 2 },
      iterations: 1,
      optimizer: { lr: 1e39 },
      exchange: { method: 'a2sgd' },
    });
    expect(warnings(records)).toEqual([
      'MEASURE_NOT_FINITE',
      // Of the replicas, and of the averaged model.
      ...['EVALUATION_NOT_FINITE', 'EVALUATION_NOT_FINITE'],
    ]);
    expect(find(records, 'divergence')).toBeUndefined();
    expect(find(records, 'done')).not.toHaveProperty('divergence');
  });
});
