/** A block gives its records back, every number to the bit, whatever fields they have. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeNumbers,
  encodeNumbers,
} from '../../../src/main/store/blocks/number-column.ts';
import {
  encodeBlock,
  RecordBlock,
  type IterationEntry,
} from '../../../src/main/store/blocks/record-block.ts';
import { runs } from '../../harness/effort.ts';
import { iterationRecord } from './sample-records.ts';

const anyNumber = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, 2 ** 53, -(2 ** 53), 2 ** 51, 5e-324, Number.MAX_VALUE),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.integer({ min: 0, max: 1e9 }).map((time) => time / 1e6),
  fc.float({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
/** Records are JSON before they are in a block, and JSON has no −0. */
const number = anyNumber.map((each) => each + 0);
const name = fc
  .oneof(
    fc.constantFrom('a', 'b', '0', '1', '12', '01', 'constructor', '__x', 'a.b', ''),
    fc.string({ maxLength: 3 }),
  )
  .filter((text) => text !== '__proto__');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    number,
    fc.string(),
    fc.boolean(),
    fc.constant(null),
    fc.dictionary(name, number, { noNullPrototype: true, maxKeys: 4 }),
    fc.dictionary(name, tie('value'), { noNullPrototype: true, maxKeys: 4 }),
    fc.array(number, { maxLength: 3 }),
  ),
}));

/** Some fields are in all records, some in a few; values are alike or not. */
const entries = fc
  .uniqueArray(fc.tuple(fc.nat(40), fc.nat(3)), {
    maxLength: 30,
    minLength: 1,
    selector: ([iteration, rank]) => `${iteration}/${rank}`,
  })
  .chain((places) =>
    fc
      .array(fc.dictionary(name, value, { noNullPrototype: true, maxKeys: 5 }), {
        minLength: places.length,
        maxLength: places.length,
      })
      .map((extra) =>
        places.map(([iteration, rank], index): IterationEntry => {
          const record = iterationRecord(iteration, rank);
          return {
            sequence: 3 + index * 2,
            record: { ...(extra[index] as object), ...record },
          };
        }),
      ),
  );

const readBack = (block: RecordBlock): IterationEntry[] =>
  [...block.bySequence].map((row) => block.entry(row));

/** Tells apart what `toEqual` does not: −0 from 0, a double from its neighbour. */
const bits = (data: unknown): unknown =>
  JSON.stringify(data, (_, each: unknown) =>
    typeof each === 'number'
      ? Buffer.from(Float64Array.of(each).buffer).toString('hex')
      : each,
  );

describe('a column of numbers', () => {
  it('gives back what was put in, to the bit', () => {
    fc.assert(
      fc.property(fc.array(anyNumber, { minLength: 1, maxLength: 40 }), (values) => {
        const read = decodeNumbers(encodeNumbers(values), values.length);
        expect(Buffer.from(read.buffer)).toEqual(
          Buffer.from(Float64Array.from(values).buffer),
        );
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('a block of records', () => {
  it('gives back what was put in, to the bit', () => {
    fc.assert(
      fc.property(entries, (given) => {
        const read = readBack(new RecordBlock(encodeBlock(given)));
        expect(read).toEqual(given);
        const sorted = (all: readonly IterationEntry[]): unknown =>
          all.map((entry) => bits(inOrder(entry)));
        expect(sorted(read)).toEqual(sorted(given));
      }),
      { numRuns: runs(60) },
    );
  });

  it('with any bit changed is refused, not read as something else', () => {
    const given = Array.from({ length: 40 }, (_, n) => ({
      sequence: n + 1,
      record: iterationRecord(n >> 1, n & 1),
    }));
    const content = encodeBlock(given);
    for (let at = 0; at < content.length; at++) {
      const changed = Uint8Array.from(content);
      changed[at]! ^= 1 << (at % 8);
      const read = (): unknown => readBack(new RecordBlock(changed));
      expect(read, `byte ${at}`).toThrow();
    }
  });
});

/** The same data with sorted names. */
function inOrder(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data;
  const pairs = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([key, each]) => [key, inOrder(each)]);
}
