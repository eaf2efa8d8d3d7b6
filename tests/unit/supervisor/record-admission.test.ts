/** What ranks may record, and what a refusal says. */
import { describe, expect, it } from 'vitest';
import {
  admitError,
  RecordAdmission,
} from '../../../src/agent/supervisor/journal/record-admission.ts';
import { GradwireError, type ErrorData } from '../../../src/shared/errors/errors.ts';
import { done, iterationRecord, switchRecord } from '../main/sample-records.ts';

function refusalOf(admission: RecordAdmission, raw: unknown): ErrorData {
  try {
    admission.admit(1, raw);
  } catch (error) {
    if (error instanceof GradwireError) return error.toData();
    throw error;
  }
  throw new Error('it was admitted');
}

describe('the records of a rank', () => {
  it('are admitted where they fit, each rank’s iterations in order', () => {
    const admission = new RecordAdmission();
    for (const iteration of [0, 1, 2]) {
      for (const rank of iteration === 1 ? [1, 0] : [0, 1]) {
        const record = iterationRecord(iteration, rank);
        expect(admission.admit(rank, record)).toEqual(record);
      }
    }
    expect(admission.admit(0, done)).toEqual(done);
  });

  it.each<[string, (good: object) => unknown, string | RegExp]>([
    [
      'a loss of NaN',
      (good) => ({ ...good, loss: NaN }),
      'iteration record, rank 1, iteration 3: loss is NaN',
    ],
    [
      'a wall time of Infinity',
      (good) => ({ ...good, wall: Infinity }),
      'iteration record, rank 1, iteration 3: wall is Infinity',
    ],
    [
      'another rank',
      (good) => ({ ...good, rank: 0 }),
      'iteration record: rank is 0, not 1',
    ],
    [
      'an iteration that was recorded',
      (good) => ({ ...good, iteration: 2 }),
      'iteration record: iteration is 2, not 3',
    ],
    [
      'an iteration too many',
      (good) => ({ ...good, iteration: 4 }),
      'iteration record: iteration is 4, not 3',
    ],
    [
      'an unknown type',
      (good) => ({ ...good, type: 'speed' }),
      /^speed record, rank 1, iteration 3: type is not valid: /,
    ],
    ['no record', () => 'nothing', /^a record without a type: it is not valid: /],
  ])('are refused with %s, by the rank that sends them', (_, spoil, message) => {
    const admission = new RecordAdmission();
    for (const iteration of [0, 1, 2])
      admission.admit(1, iterationRecord(iteration, 1));
    expect(refusalOf(admission, spoil(iterationRecord(3, 1)))).toMatchObject({
      code: 'RECORD_INVALID',
      message:
        typeof message === 'string'
          ? message
          : (expect.stringMatching(message) as string),
      rank: 1,
      place: 'rank 1',
      next: expect.any(String) as string,
    });
  });
});

describe('a run that goes on from a checkpoint', () => {
  const evaluation = (iteration: number) => ({
    type: 'evaluation',
    at: 1,
    iteration,
    samples: 10,
    wall: 1,
  });
  const admitted = (admission: RecordAdmission, raws: readonly unknown[]): unknown[] =>
    raws.map((raw) => admission.admit(0, raw));

  it('records nothing twice, and what is new once', () => {
    const admission = new RecordAdmission();
    for (const iteration of [0, 1, 2, 3]) {
      admission.admit(0, iterationRecord(iteration, 0));
      if (iteration < 2) admission.admit(1, iterationRecord(iteration, 1));
    }
    admitted(admission, [evaluation(3)]);
    admission.restart(2);
    const repeated = [
      iterationRecord(2, 0),
      evaluation(2),
      iterationRecord(3, 0),
      evaluation(3),
    ];
    expect(admitted(admission, repeated)).toEqual(repeated.map(() => undefined));
    const fresh = [iterationRecord(4, 0), evaluation(4)];
    expect(admitted(admission, fresh)).toEqual(fresh);
    // The other rank had not come as far.
    expect(admission.admit(1, iterationRecord(2, 1))).toBeDefined();
    expect(refusalOf(admission, iterationRecord(2, 1)).message).toBe(
      'iteration record: iteration is 2, not 3',
    );
  });

  it('records a switch once that was reported before its iteration', () => {
    const admission = new RecordAdmission();
    const switched = switchRecord(1, 'none', 'topk');
    expect(admitted(admission, [iterationRecord(0, 0), switched])).toHaveLength(2);
    admission.restart(0);
    const repeated = [iterationRecord(0, 0), switched];
    expect(admitted(admission, repeated)).toEqual([undefined, undefined]);
    const later = { ...switchRecord(3, 'topk', 'none'), epoch: 2 };
    expect(admission.admit(0, later)).toEqual(later);
  });

  it('records a switch that takes effect where iterations are repeated', () => {
    const admission = new RecordAdmission();
    for (const iteration of [0, 1, 2])
      admission.admit(0, iterationRecord(iteration, 0));
    admission.restart(0);
    expect(admission.admit(0, iterationRecord(0, 0))).toBeUndefined();
    const switched = switchRecord(1, 'none', 'topk');
    expect(admission.admit(0, switched)).toEqual(switched);
  });

  it('tells a notice once, and again where it is news', () => {
    const notice = { type: 'notice', at: 1, level: 'info', code: 'X', message: 'y' };
    const admission = new RecordAdmission();
    const first = [notice, iterationRecord(0, 0)];
    expect(admitted(admission, first)).toEqual(first);
    admission.restart(0);
    expect(admitted(admission, first)).toEqual([undefined, undefined]);
    const later = [iterationRecord(1, 0), iterationRecord(2, 0), notice];
    expect(admitted(admission, later)).toEqual(later);
  });

  it('says up to where everything is recorded', () => {
    const admission = new RecordAdmission();
    for (const iteration of [0, 1, 2])
      admission.admit(0, iterationRecord(iteration, 0));
    expect(admission.recordedUpTo([0])).toBe(3);
    expect(admission.recordedUpTo([0, 1])).toBe(0);
    admission.admit(1, iterationRecord(0, 1));
    expect(admission.recordedUpTo([0, 1])).toBe(1);
  });

  it('knows from its journal what is recorded', () => {
    const admission = new RecordAdmission();
    for (const iteration of [0, 1]) admission.recall(iterationRecord(iteration, 0));
    admission.restart(0);
    const repeated = [iterationRecord(0, 0), iterationRecord(1, 0)];
    expect(admitted(admission, repeated)).toEqual([undefined, undefined]);
    expect(admission.admit(0, iterationRecord(2, 0))).toBeDefined();
  });
});

describe('the error with which a rank says that it failed', () => {
  it('is taken as it is where it is one', () => {
    const error = { code: 'DATA_MISSING', kind: 'failure', message: 'no data' };
    expect(admitError(1, error)).toEqual({ ...error, rank: 1 });
    expect(admitError(1, { ...error, rank: 2 })).toEqual({ ...error, rank: 2 });
  });

  it('is its refusal if it is invalid', () => {
    expect(admitError(1, { code: 5 })).toMatchObject({
      code: 'RECORD_INVALID',
      message: expect.stringMatching(
        /^failed record: error.code is not valid: /,
      ) as string,
      rank: 1,
      place: 'rank 1',
    });
  });
});
