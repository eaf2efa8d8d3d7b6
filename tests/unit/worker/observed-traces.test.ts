/** Traces of programs that are only observed: which steps have one, and what they say of averages. */
import { describe, expect, test } from 'vitest';
import type { BucketLayout, ProgramTrace } from '../../../src/agent/bridge/messages.ts';
import { ObservedTraces } from '../../../src/agent/worker/observed-traces.ts';
import type { NoticeRecord } from '../../../src/shared/records/notice.ts';
import { traceKind, type TraceRecord } from '../../../src/shared/records/trace.ts';

const bucket = (place: number, encoded = false) => ({
  place,
  name: `layer${place}`,
  tensors: 2,
  length: 1000,
  bytes: 4000,
  dtype: 'float32',
  encoded,
});
const LAYOUT = new Map<number, BucketLayout>([
  [0, bucket(0)],
  [2, bucket(2)],
]);

/** Two sums, of which the second waits for the first, and then for the last gradient. */
const TRACE: ProgramTrace = {
  wall: 11_000,
  spans: [
    ['forward', 0, 3000],
    ['backward', 3000, 5000],
  ],
  dropped: 0,
  exchange: [8000, 11_000],
  met: [],
  sums: [
    [2, 4000, 6000, 4000, 8000],
    [0, 5000, 9500, 6000, 8000],
  ],
};

class Rank {
  readonly told: (TraceRecord | NoticeRecord)[] = [];
  readonly traces: ObservedTraces;
  #next = 0;

  constructor(rank = 0, ranks = 3) {
    const report = (record: TraceRecord | NoticeRecord): void => {
      this.told.push(record);
    };
    this.traces = new ObservedTraces({ rank, ranks, clock: 'boot', report });
  }

  steps(count: number, trace?: ProgramTrace, layout = LAYOUT): void {
    for (let i = 0; i < count; i++) {
      const at = 1000 + this.#next;
      const step = { at, wall: 0.011, ...(trace === undefined ? {} : { trace }) };
      this.traces.passed(this.#next++, step, layout);
    }
  }

  get records(): readonly TraceRecord[] {
    return this.told.filter((one) => one.type === 'trace');
  }

  get said(): readonly string[] {
    return this.told.flatMap((one) => (one.type === 'notice' ? [one.message] : []));
  }
}

describe('the steps that are traced', () => {
  const iterationsOf = (rank: Rank) => rank.records.map(({ iteration }) => iteration);

  test('are those of the order, and rank 0 says when they are over', () => {
    const [first, second] = [new Rank(0), new Rank(1)];
    for (const rank of [first, second]) {
      rank.steps(5);
      rank.traces.wants(7, 3);
      rank.steps(2);
      rank.steps(3, TRACE);
      rank.steps(4);
      expect(iterationsOf(rank)).toEqual([7, 8, 9]);
    }
    expect(first.said).toEqual(['traced iterations 7 to 9']);
    expect(second.said).toEqual([]);
  });

  test('have a record without spans where the order came too late', () => {
    const rank = new Rank();
    rank.steps(5000);
    rank.traces.wants(4996, 6);
    expect(iterationsOf(rank)).toEqual([4996, 4997, 4998, 4999]);
    rank.steps(1);
    rank.steps(1, TRACE);
    rank.steps(1);
    expect(iterationsOf(rank)).toEqual([4996, 4997, 4998, 4999, 5000, 5001]);
    const spans = rank.records.map((one) => one.spans.length);
    expect(spans).toEqual([0, 0, 0, 0, 0, 5]);
    expect(rank.said).toEqual(['traced iterations 4996 to 5001']);
    // All that is asked for is past.
    const late = new Rank();
    late.steps(9);
    late.traces.wants(3, 2);
    expect(iterationsOf(late)).toEqual([3, 4]);
    expect(late.said).toEqual(['traced iterations 3 to 4']);
  });

  test('of two orders at once are one stretch, none of it told twice', () => {
    const rank = new Rank();
    rank.traces.wants(1, 4);
    rank.steps(3, TRACE);
    rank.traces.wants(4, 3);
    rank.steps(6, TRACE);
    expect(iterationsOf(rank)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(rank.said).toEqual(['traced iterations 1 to 6']);
    rank.traces.wants(20, 1);
    rank.steps(12, TRACE);
    expect(iterationsOf(rank).at(-1)).toBe(20);
    expect(rank.said.at(-1)).toBe('traced iteration 20');
  });

  test('end with the program', () => {
    const rank = new Rank();
    rank.traces.wants(2, 10);
    rank.steps(5, TRACE);
    rank.traces.close();
    expect(rank.said).toEqual(['traced iterations 2 to 4']);
    const early = new Rank();
    early.traces.wants(2, 10);
    early.steps(2);
    early.traces.close();
    expect(early.said).toEqual([]);
  });
});

describe('the record of a step', () => {
  const recordOf = (layout = LAYOUT, ranks = 3): TraceRecord => {
    const rank = new Rank(1, ranks);
    rank.traces.wants(4, 1);
    rank.steps(5, TRACE, layout);
    const [record] = rank.records;
    expect(traceKind.schema.parse(record)).toEqual(record);
    return record!;
  };

  test('parts the time of each sum into what computing hides and what it does not', () => {
    const { buckets, clock, origin, spans, threads, wall } = recordOf();
    expect(clock).toBe('boot');
    expect(threads).toEqual(['program', 'network']);
    expect(buckets).toEqual(['layer0', '', 'layer2']);
    expect([origin, wall]).toEqual([1004, 11_000]);
    expect(spans).toEqual([
      [0, 'forward', -1, -1, 0, 3000, 0],
      [0, 'backward', -1, -1, 3000, 5000, 0],
      [1, 'wait', 2, -1, 4000, 2000, 1],
      [1, 'wait', 0, -1, 6000, 2000, 1],
      [1, 'wait', 0, -1, 8000, 1500, 0],
    ]);
  });

  test('has an arrow from and to each other rank for each sum', () => {
    const { messages } = recordOf();
    const [first, second] = [40_000, 40_001];
    expect(messages).toEqual([
      [0, 0, 2, 2, first, 4000, 4000],
      [1, 0, 2, 2, first, 4000, 6000],
      [0, 2, 2, 2, first, 4000, 4000],
      [1, 2, 2, 2, first, 4000, 6000],
      [0, 0, 0, 0, second, 4000, 5000],
      [1, 0, 0, 0, second, 4000, 9500],
      [0, 2, 0, 0, second, 4000, 5000],
      [1, 2, 0, 0, second, 4000, 9500],
    ]);
    expect(recordOf(LAYOUT, 2).messages).toHaveLength(4);
  });

  test('has arrows only from and to ranks that average the bucket, too', () => {
    const layout = new Map([
      [0, { ...bucket(0), ranks: [1, 2] }],
      [2, { ...bucket(2), ranks: [1] }],
    ]);
    const { messages, spans } = recordOf(layout);
    expect(messages).toEqual([
      [0, 2, 0, 0, 40_001, 4000, 5000],
      [1, 2, 0, 0, 40_001, 4000, 9500],
    ]);
    expect(spans).toHaveLength(5);
  });

  test('has an arrow from rank 0 to each other rank for what DDP takes from it', () => {
    const met: ProgramTrace = { ...TRACE, sums: [], met: [[100, 400]] };
    const tracedOn = (number: number): TraceRecord => {
      const rank = new Rank(number);
      rank.traces.wants(0, 1);
      rank.steps(1, met);
      return rank.records[0]!;
    };
    const stream = 10_001;
    expect(tracedOn(0).messages).toEqual([
      [0, 1, -1, stream, 0, 0, 100],
      [0, 2, -1, stream, 0, 0, 100],
    ]);
    expect(tracedOn(2).messages).toEqual([[1, 0, -1, stream, 0, 0, 400]]);
    expect(tracedOn(2).spans.at(-1)).toEqual([1, 'wait', -1, -1, 100, 300, 0]);
  });

  test('has none of what a hook of the program does with a bucket', () => {
    const layout = new Map([
      [0, bucket(0, true)],
      [2, bucket(2)],
    ]);
    const { messages, spans } = recordOf(layout);
    expect(new Set(messages.map(([, , of]) => of))).toEqual(new Set([2]));
    expect(spans).toHaveLength(5);
  });
});
