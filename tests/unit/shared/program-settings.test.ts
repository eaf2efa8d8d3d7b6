import { expect, test } from 'vitest';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { settingsInUse } from '../../../src/shared/spec/program-settings.ts';
import { validateLaunch } from '../../../src/agent/launch/validate-launch.ts';

const joins = { command: ['python3', 'train.py'] };
const observed = { ...joins, observe: true };

test.each([
  [{ workload: joins, optimizer: { lr: 0.1 } }, 'optimizer.lr'],
  [{ workload: joins, optimizer: { kind: 'adam' } }, 'optimizer.kind'],
  [{ workload: observed, optimizer: { decayAt: [5] } }, 'optimizer.decayAt'],
  [{ workload: joins, optimizer: { clipNorm: 1 } }, 'optimizer.clipNorm'],
  [
    { workload: observed, optimizer: { clipNorm: 1, clipAt: 'rank' } },
    'optimizer.clipNorm',
  ],
  [{ workload: { ...joins, batchPerRank: 64 } }, 'workload.batchPerRank'],
  [{ workload: observed, evaluateEvery: 10 }, 'evaluateEvery'],
])('a program is not told by %j', (raw, place) => {
  const spec = parseExperimentSpec(raw);
  expect(() => validateLaunch(spec)).toThrow(
    expect.objectContaining({ code: 'PROGRAM_MISFIT', place }) as Error,
  );
});

test('what a rank gives to the exchange can be clipped', () => {
  const clipped = { workload: joins, optimizer: { clipNorm: 1, clipAt: 'rank' } };
  expect(() => validateLaunch(parseExperimentSpec(clipped))).not.toThrow();
  expect(settingsInUse(parseExperimentSpec(clipped))).toMatchObject({
    optimizer: { clipNorm: 1, clipAt: 'rank' },
  });
  const half = { workload: joins, optimizer: { clipAt: 'rank' } };
  expect(() => validateLaunch(parseExperimentSpec(half))).toThrow(
    expect.objectContaining({ code: 'OPTIMIZER_OPTION_IDLE' }) as Error,
  );
});

test('settings that are shown of a program are those that it has', () => {
  const shown = settingsInUse(parseExperimentSpec({ workload: joins }));
  expect(shown).toMatchObject({ workload: joins, exchange: {}, seed: 1 });
  expect(Object.keys(shown)).not.toContain('optimizer');
  expect(Object.keys(shown)).not.toContain('iterations');
  expect(shown).not.toHaveProperty('workload.batchPerRank');
  // It can be given again as it is.
  expect(parseExperimentSpec(shown)).toEqual(parseExperimentSpec({ workload: joins }));
  const ended = { iterations: 20, workload: observed };
  const seen = settingsInUse(parseExperimentSpec(ended));
  expect(seen).toMatchObject(ended);
  expect(seen).not.toHaveProperty('exchange');
  const spec = parseExperimentSpec({ workload: { model: 'fnn3', dataset: 'digits' } });
  expect(settingsInUse(spec)).toEqual(spec);
});
