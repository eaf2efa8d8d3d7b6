/** Runs whose numbers leave what a float can hold: each ends, and says why. */
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '../../../src/shared/records.ts';
import { GradwireHome, type RunningCommand } from '../../harness/gradwire.ts';

function find<T extends RunRecord['type']>(
  command: RunningCommand,
  type: T,
): Extract<RunRecord, { type: T }> | undefined {
  return command.records.find(
    (record): record is Extract<RunRecord, { type: T }> => record.type === type,
  );
}

const warnings = (command: RunningCommand): readonly string[] =>
  command.records.flatMap((record) =>
    record.type === 'notice' && record.level === 'warning' ? [record.code] : [],
  );

async function expectNothingOpen(home: GradwireHome): Promise<void> {
  const { code, stderr, stdout } = await home.run(['runs', 'list', '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const states = stdout.split('\n').filter((line) => line !== '');
  for (const line of states) {
    const { state } = JSON.parse(line) as { state: string };
    expect(state).toMatch(/^(completed|failed)$/);
  }
}

describe('a run that diverges', () => {
  // The scores of one rank's batch overflow in their loss, but not in their gradient.
  it('fails by a loss that is not finite, of a rank and an iteration', async () => {
    await using home = new GradwireHome();
    const command = home.startQuickstart([
      ...['world.ranks=2', 'iterations=8', 'evaluateEvery=0', 'optimizer.lr=1.5e13'],
    ]);
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^gradwire: LOSS_NOT_FINITE: .* Lower the learning rate/);
    expect(find(command, 'failed')!.error).toMatchObject({
      code: 'LOSS_NOT_FINITE',
      message: expect.stringMatching(
        /loss of training is (NaN|Infinity) in iteration 1$/,
      ) as string,
      place: expect.stringMatching(/^rank [01]$/) as string,
    });
    const { processes } = find(command, 'started')!;
    const left = home.processes('gradwire worker').map(({ pid }) => pid);
    expect(processes.filter(({ pid }) => left.includes(pid))).toEqual([]);
    await expectNothingOpen(home);
  });

  it('completes where only its last evaluation is not finite, and says so', async () => {
    await using home = new GradwireHome();
    const command = home.startQuickstart(['iterations=1', 'optimizer.lr=1e20']);
    const { code, stderr, stdout } = await command.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toMatch(/NaN,|null/);
    const evaluation = find(command, 'evaluation')!;
    expect(evaluation).not.toHaveProperty('loss');
    expect(evaluation).toMatchObject({
      iteration: 0,
      metric: expect.any(Number) as number,
    });
    expect(warnings(command)).toEqual(['EVALUATION_NOT_FINITE']);
    expect(find(command, 'done')).toMatchObject({ reason: 'completed', iterations: 1 });
    await expectNothingOpen(home);
  });

  it('goes on after an evaluation that is not finite until training itself fails', async () => {
    await using home = new GradwireHome();
    const command = home.startQuickstart([
      ...['iterations=8', 'optimizer.lr=1e20', 'evaluateEvery=1'],
    ]);
    expect((await command.finished).code).toBe(1);
    expect(find(command, 'failed')!.error.code).toBe('GRADIENT_NOT_FINITE');
    await expectNothingOpen(home);
  });

  it('records no drift of weights that are not finite, and says so', async () => {
    await using home = new GradwireHome();
    const command = home.startQuickstart([
      ...['world.ranks=2', 'iterations=1', 'optimizer.lr=1e39'],
      'exchange.method=a2sgd',
    ]);
    const { code, stderr } = await command.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(warnings(command)).toEqual(['MEASURE_NOT_FINITE', 'EVALUATION_NOT_FINITE']);
    expect(find(command, 'divergence')).toBeUndefined();
    expect(find(command, 'done')).not.toHaveProperty('divergence');
    await expectNothingOpen(home);
  });
});
