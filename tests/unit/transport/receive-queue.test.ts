import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GradwireError } from '../../../src/shared/errors/errors.ts';
import {
  encodeAbortFrame,
  FRAME_HEADER_BYTES,
  type FrameHeader,
} from '../../../src/agent/transport/message-frame.ts';
import { PendingReceive } from '../../../src/agent/transport/pending-operation.ts';
import { ReceiveQueue } from '../../../src/agent/transport/receive-queue.ts';

const base = { stream: 0, sequence: 7, epoch: 1, operation: 3, dtype: 2 };

interface Posted {
  readonly receive: PendingReceive;
  readonly into: Buffer;
}

function queue(): {
  queue: ReceiveQueue;
  delivered: PendingReceive[];
  aborted: GradwireError[];
} {
  const delivered: PendingReceive[] = [];
  const aborted: GradwireError[] = [];
  return {
    delivered,
    aborted,
    queue: new ReceiveQueue(0, 1, {
      delivered: (receive) => delivered.push(receive),
      aborted: (reason) => aborted.push(reason),
    }),
  };
}

function expectation(length: number, stream = 0): Posted {
  const into = Buffer.alloc(length);
  const header = { ...base, stream };
  const receive = new PendingReceive(1, header, length, length, () => into);
  receive.promise.catch(() => undefined);
  return { receive, into };
}

function arrive(to: ReceiveQueue, body: Uint8Array, more: Partial<FrameHeader> = {}) {
  to.begin({ ...base, kind: 'data', length: body.length, ...more });
  for (const byte of body) to.body(Buffer.of(byte));
  to.end();
}

describe('messages', () => {
  test('go to their receives in order, whichever comes first, stream by stream', () => {
    const action = fc.record({
      stream: fc.integer({ min: 0, max: 2 }),
      what: fc.constantFrom('post' as const, 'arrive' as const),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const { queue: tested, delivered } = queue();
        const posted: Posted[][] = [[], [], []];
        const arrived = [0, 0, 0];
        for (const { stream, what } of actions) {
          if (what === 'post') {
            const expected = expectation(2, stream);
            posted[stream]!.push(expected);
            tested.post(expected.receive);
          } else {
            arrive(tested, Buffer.of(stream, arrived[stream]!++), { stream });
          }
        }
        let kept = 0;
        let count = 0;
        for (const stream of [0, 1, 2]) {
          posted[stream]!.forEach(({ receive, into }, index) => {
            const done = index < arrived[stream]!;
            expect(receive.ended).toBe(done);
            expect([...into]).toEqual(done ? [stream, index] : [0, 0]);
            if (done) count++;
          });
          kept += 2 * Math.max(0, arrived[stream]! - posted[stream]!.length);
        }
        expect(delivered).toHaveLength(count);
        expect(tested.keptBytes).toBe(kept);
      }),
    );
  });

  test('that are still arriving when they are asked for go straight on', () => {
    const { queue: tested } = queue();
    tested.begin({ ...base, kind: 'data', length: 3 });
    tested.body(Buffer.of(1));
    const { receive, into } = expectation(3);
    tested.post(receive);
    expect(tested.keptBytes).toBe(0);
    expect(receive.begun).toBe(true);
    expect(receive.ended).toBe(false);
    tested.body(Buffer.of(2, 3));
    tested.end();
    expect(receive.ended).toBe(true);
    expect([...into]).toEqual([1, 2, 3]);
  });

  test('may be put by the reader where they belong, posted or kept, in any mix', () => {
    const step = fc.record({
      bytes: fc.integer({ min: 1, max: 9 }),
      put: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 12 }),
        fc.nat({ max: 12 }),
        (steps, postAt) => {
          const { queue: tested, delivered } = queue();
          const length = steps.reduce((sum, { bytes }) => sum + bytes, 0);
          const { receive, into } = expectation(length);
          tested.begin({ ...base, kind: 'data', length });
          let sent = 0;
          for (const [index, { bytes, put }] of steps.entries()) {
            if (index === postAt) tested.post(receive);
            const piece = Buffer.from(
              Array.from({ length: bytes }, () => sent++ & 255),
            );
            if (put) {
              const room = tested.room(length - sent + bytes)!;
              expect(room.length).toBeGreaterThanOrEqual(bytes);
              room.set(piece);
              tested.filled(bytes);
            } else tested.body(piece);
          }
          expect(tested.keptBytes).toBe(receive.begun ? 0 : length);
          if (postAt >= steps.length) tested.post(receive);
          expect(tested.expected).toBe(1);
          tested.end();
          expect(delivered).toEqual([receive]);
          expect(tested.expected).toBe(0);
          expect([...into]).toEqual(Array.from({ length }, (_, index) => index & 255));
        },
      ),
    );
  });

  test('that come early lie in memory of their own, which later ones use again', () => {
    const { queue: tested } = queue();
    const length = 600_000;
    const arriveEarly = (value: number): Set<ArrayBufferLike> => {
      const used = new Set<ArrayBufferLike>();
      tested.begin({ ...base, kind: 'data', length });
      for (let missing = length; missing > 0;) {
        const room = tested.room(missing)!;
        used.add(room.buffer);
        room.fill(value);
        tested.filled(room.length);
        missing -= room.length;
      }
      tested.end();
      return used;
    };
    const shared = <T>(one: Set<T>, other: Set<T>): T[] =>
      [...one].filter((memory) => other.has(memory));
    const take = (): Buffer => {
      const { into, receive } = expectation(length);
      tested.post(receive);
      return into;
    };
    const [first, second] = [arriveEarly(1), arriveEarly(2)];
    expect(shared(first, second)).toEqual([]);
    expect(take().equals(Buffer.alloc(length, 1))).toBe(true);
    const third = arriveEarly(3);
    expect(shared(third, second)).toEqual([]);
    expect(shared(third, first)).not.toEqual([]);
    expect(take().equals(Buffer.alloc(length, 2))).toBe(true);
    expect(take().equals(Buffer.alloc(length, 3))).toBe(true);
  });

  test('of no bytes are messages', async () => {
    const { queue: tested } = queue();
    const { receive } = expectation(0);
    tested.post(receive);
    arrive(tested, Buffer.of());
    await expect(receive.promise).resolves.toBe(0);
  });

  test('of unknown length are placed by their length', async () => {
    const { queue: tested } = queue();
    const into = Buffer.alloc(5);
    const lengths: number[] = [];
    const receive = new PendingReceive(1, base, undefined, 5, (length) => {
      lengths.push(length);
      return into;
    });
    tested.post(receive);
    arrive(tested, Buffer.of(9, 8));
    await expect(receive.promise).resolves.toBe(2);
    expect(lengths).toEqual([2]);
    expect([...into]).toEqual([9, 8, 0, 0, 0]);
  });
});

describe('a message that is not the one expected', () => {
  const cases = [
    ['sequence', { sequence: 8 }, 'sequence 8', '7'],
    ['epoch', { epoch: 2 }, 'epoch 2', '1'],
    ['operation', { operation: 4 }, 'operation 4', '3'],
    ['dtype', { dtype: 9 }, 'dtype 9', '2'],
    ['length', { length: 5 }, 'length 5', '4'],
  ] as const;

  test.each(cases)(
    'in its %s is named, if it comes later',
    (_, more, found, wanted) => {
      const { queue: tested } = queue();
      tested.post(expectation(4).receive);
      expect(() => {
        arrive(tested, Buffer.alloc(4), more);
      }).toThrow(mismatch(found, wanted));
    },
  );

  test.each(cases)('in its %s is named, if it came first', (_, more, found, wanted) => {
    const { queue: tested } = queue();
    arrive(tested, Buffer.alloc(4), more);
    expect(() => {
      tested.post(expectation(4).receive);
    }).toThrow(mismatch(found, wanted));
  });

  test('because it is longer than it may be is named', () => {
    const { queue: tested } = queue();
    tested.post(new PendingReceive(1, base, undefined, 3, () => Buffer.alloc(3)));
    expect(() => {
      arrive(tested, Buffer.alloc(4));
    }).toThrow(mismatch('length 4', 'at most 3'));
  });

  function mismatch(found: string, wanted: string): object {
    return expect.objectContaining({
      code: 'PEER_MISMATCH',
      rank: 1,
      place: 'stream 0, exchange ' + (found.startsWith('sequence') ? '8' : '7'),
      message: `rank 1 sent a message with ${found}, rank 0 expected ${wanted}`,
    }) as object;
  }
});

test('an abort between messages is told with its reason', () => {
  const { queue: tested, aborted } = queue();
  const frame = encodeAbortFrame({ code: 'X', kind: 'failure', message: 'why' });
  const body = frame.subarray(FRAME_HEADER_BYTES);
  tested.begin({ ...base, kind: 'abort', length: body.length });
  tested.body(body.subarray(0, 3));
  tested.body(body.subarray(3));
  tested.end();
  expect(aborted.map(({ code, message }) => [code, message])).toEqual([['X', 'why']]);
});
