import { expect, it } from 'vitest';
import type { BucketSumsRecord } from '../../../src/shared/records/bucket-sums.ts';
import type { BucketLayout, Stepped } from '../../../src/agent/bridge/messages.ts';
import { ObservedBuckets } from '../../../src/agent/worker/observed-buckets.ts';

const bucket = (place: number, more: Partial<BucketLayout> = {}): BucketLayout => ({
  place,
  name: `bucket ${place}`,
  tensors: 2,
  length: 10 * (place + 1),
  bytes: 40 * (place + 1),
  dtype: 'float32',
  encoded: false,
  ...more,
});

type Times = readonly [
  place: number,
  begin: number,
  end: number,
  wait: number,
  hidden: number,
  averages?: number,
];

const stepped = (
  times: readonly Times[],
  layout: readonly BucketLayout[] = [],
): Stepped => ({
  type: 'stepped',
  step: {
    at: 0,
    wall: 10,
    apply: 1,
    lr: 0.1,
    buckets: times.map(([place, begin, end, wait, hidden, averages = 1]) => [
      place,
      begin,
      end,
      wait,
      hidden,
      averages,
    ]),
  },
  values: {},
  layout,
});

function observing() {
  const records: BucketSumsRecord[] = [];
  const buckets = new ObservedBuckets({
    rank: 1,
    ranks: 2,
    method: 'none',
    collective: 'own',
    report: (record) => records.push(record),
  });
  return { buckets, records };
}

it('sums what each bucket costs, over intervals', () => {
  const { buckets, records } = observing();
  const layout = [bucket(0), bucket(1)];
  buckets.add(3, stepped([[1, 0, 2, 0.5, 1.5], [0, 1, 4, 2, 0.25]], layout)); // prettier-ignore
  expect(records[0]).toMatchObject({
    rank: 1,
    from: 3,
    to: 4,
    exchanges: 1,
    buckets: [
      { name: 'bucket 1', begin: 0, end: 2, wait: 0.5, hidden: 1.5, payload: 80 },
      { name: 'bucket 0', begin: 1, end: 4, wait: 2, hidden: 0.25, payload: 40 },
    ],
  });
  buckets.add(4, stepped([]));
  buckets.add(5, stepped([[0, 0, 1, 1, 0]]));
  buckets.add(6, stepped([[0, 0, 1, 1, 0]]));
  buckets.close();
  expect(records.slice(1).map(({ from, to }) => [from, to])).toEqual([
    [5, 6],
    [6, 7],
  ]);
});

it('adds what a step averages several times to one exchange', () => {
  const { buckets, records } = observing();
  buckets.add(0, stepped([[0, 0, 1, 3, 0.5, 2]], [bucket(0)]));
  const [sum] = records[0]!.buckets;
  expect(sum).toMatchObject({ begin: 0, end: 1, wait: 3, hidden: 0.5, payload: 80 });
  expect(sum).not.toHaveProperty('ownExchanges');
  expect(buckets.averagesOf(10)).toEqual({ times: 2, width: 1 });
  expect(() => buckets.averagesOf(15)).toThrow(
    'a step averages 20 elements, and its first model has 15',
  );
});

it('says nothing of what a hook of the program sends, nor predicts what cannot join', () => {
  const hooked = observing();
  hooked.buckets.add(0, stepped([[0, 0, 1, 1, 0]], [bucket(0, { encoded: true })]));
  expect(hooked.buckets.isEncoded).toBe(true);
  expect(hooked.records[0]!.buckets[0]).not.toHaveProperty('payload');
  expect(() => hooked.buckets.averagesOf(10)).toThrow(
    'a hook of the program’s communicates',
  );
  const half = observing();
  const halves = bucket(0, { dtype: 'bfloat16', bytes: 20 });
  half.buckets.add(0, stepped([[0, 0, 1, 1, 0]], [halves]));
  expect(half.buckets.averagesOf(10)).toEqual({ times: 1, width: 0.5 });
  const double = observing();
  double.buckets.add(0, stepped([[0, 0, 1, 1, 0]], [bucket(0, { dtype: 'float64' })]));
  expect(double.records[0]!.buckets[0]).toMatchObject({ dtype: 'float64' });
  expect(() => double.buckets.averagesOf(10)).toThrow('elements of float64');
});

it('refuses times of a bucket of which nothing was told', () => {
  const { buckets } = observing();
  expect(() => {
    buckets.add(0, stepped([[7, 0, 1, 1, 0]], [bucket(0)]));
  }).toThrow('the program sent times of bucket 7, of which it has told nothing');
});
