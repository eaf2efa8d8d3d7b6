import { describe, expect, it } from 'vitest';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import {
  OPEN_ENDED,
  plannedText,
  progressText,
} from '../../../src/shared/spec/program-spec.ts';

describe('the spec of a program', () => {
  it('needs no more than its command', () => {
    const { iterations, workload } = parseExperimentSpec({
      workload: { command: ['python3', 'train.py'] },
    });
    expect(iterations).toBe(OPEN_ENDED);
    expect(workload).toMatchObject({
      model: 'program',
      dataset: 'none',
      command: ['python3', 'train.py'],
    });
  });

  it('may have a line for the shell in place of a list', () => {
    const { workload } = parseExperimentSpec({
      workload: { command: 'python3 train.py --epochs 3' },
    });
    expect(workload.command).toEqual(['/bin/sh', '-c', 'python3 train.py --epochs 3']);
  });

  it('may end sooner', () => {
    const spec = { iterations: 20, workload: { command: 'true' } };
    expect(parseExperimentSpec(spec).iterations).toBe(20);
  });

  it.each([
    [{ command: [] }, '"workload.command" is []'],
    [{ command: [''] }, 'names no program'],
    [{ command: ['a\0b'] }, 'has a NUL character'],
    [{ command: 5 }, '"workload.command" is 5'],
    [{ command: ['a'], env: { 'A B': '1' } }, '"workload.env.A B"'],
    [{ command: ['a'], env: { A: 1 } }, '"workload.env.A" is 1'],
    [{ command: ['a'], setup: 'module load cuda' }, '"workload.setup"'],
  ])('is refused as %j', (workload, message) => {
    expect(() => parseExperimentSpec({ workload })).toThrow(message);
  });
});

it('says how far a run is, with and without a known end', () => {
  expect([progressText(20, 400), progressText(20, OPEN_ENDED)]).toEqual([
    '20/400',
    '20',
  ]);
  expect([1, 400, OPEN_ENDED].map((planned) => plannedText(planned))).toEqual([
    '1 iteration',
    '400 iterations',
    'until it ends',
  ]);
});
