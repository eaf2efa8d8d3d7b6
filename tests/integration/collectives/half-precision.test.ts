/**
 * Every collective of dense vectors on values of 16 bits: half of the bytes, the same bits on all
 * ranks, and the exact sum where it has few enough bits.
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import type { Payload } from '../../../src/agent/memory/payload.ts';
import { HALF_TYPES, type HalfType } from '../../../src/agent/memory/value-type.ts';
import { collectiveCases, collectiveOf } from './collective-cases.ts';
import type { TriedCollective, Values } from './run-collective.ts';
import { BACKENDS, closeSharedWorlds, sharedWorld } from './world.ts';

afterAll(closeSharedWorlds);

/** Codes of integers below 256, which both types have exactly. */
const codesOf = (type: HalfType, values: Float32Array): Uint16Array =>
  type === 'binary16'
    ? new Uint16Array(Float16Array.from(values).buffer)
    : Uint16Array.from(new Uint32Array(values.slice().buffer), (bits) => bits >>> 16);

async function summed(
  collective: TriedCollective,
  communicator: TransportCommunicator,
  type: HalfType,
  codes: Uint16Array,
): Promise<{ readonly codes: Uint16Array; readonly sent: number }> {
  const { arena, size } = communicator;
  const { length } = codes;
  const data = { ...arena.allocate(2 * length), bytes: 2 * length };
  arena.u8(data.offset, data.bytes).set(new Uint8Array(codes.buffer));
  const payload: Payload = { kind: 'dense', length, data, values: type };
  communicator.begin({
    epoch: 0,
    operation: collective.code,
    dtype: 5,
    values: type,
    servers: collective.servers?.(size),
  });
  const combined = await collective.run(communicator, payload);
  if (combined.form !== 'dense') throw new Error(`the sum is ${combined.form}`);
  const bytes = arena.u8(combined.data.offset, 2 * length).slice();
  const sent = communicator.sentBytes;
  arena.release(data);
  return { codes: new Uint16Array(bytes.buffer), sent };
}

const DENSE = Object.keys(collectiveCases).filter(
  (id) => collectiveCases[id]!.kind === 'dense',
);

describe.each(DENSE)('%s', (id) => {
  const collective = collectiveOf(id);

  test.each([1, 2, 3, 5, 8])('P = %d: the sum, in half of the bytes', async (ranks) => {
    for (const backend of ranks === 3 ? BACKENDS : (['wasm'] as const)) {
      const world = await sharedWorld(ranks, backend);
      const communicators = world.communicators();
      for (const type of HALF_TYPES) {
        for (const length of [0, 1, 7, 1003, 6007]) {
          const inputs = communicators.map((_, rank) =>
            Float32Array.from({ length }, (__, i) => ((7 * i + 5 * rank) % 61) - 30),
          );
          const codes = inputs.map((values) => codesOf(type, values));
          const sums = Float32Array.from({ length }, (_, i) =>
            inputs.reduce((sum, values) => sum + values[i]!, 0),
          );
          const where = `${type}, N ${length}`;
          const outcomes = await Promise.all(
            communicators.map((communicator, rank) =>
              summed(collective, communicator, type, codes[rank]!),
            ),
          );
          // As a Values it has two bytes per element, which is all that is asked of it.
          const bytes = collectiveCases[id]!.sent(codes as unknown as Values[]);
          const expected = codesOf(type, sums);
          for (const [rank, { codes: sum, sent }] of outcomes.entries()) {
            // −0 and 0 are the same sum.
            const different = sum.findIndex(
              (code, i) => code !== expected[i] && (code | expected[i]!) !== 0x8000,
            );
            expect(different, `${where}, rank ${rank}`).toBe(-1);
            expect(sent, `${where}, rank ${rank}`).toBe(bytes[rank]);
          }
        }
      }
    }
  });

  test('all ranks get the same bits, whatever is rounded', async () => {
    const world = await sharedWorld(5);
    const communicators = world.communicators();
    for (const type of HALF_TYPES) {
      const codes = communicators.map((_, rank) =>
        Uint16Array.from(
          { length: 1003 },
          (__, i) => ((i * 2_654_435_761 + rank * 40_503) >>> 8) % 0x7000,
        ),
      );
      const outcomes = await Promise.all(
        communicators.map((communicator, rank) =>
          summed(collective, communicator, type, codes[rank]!),
        ),
      );
      for (const { codes: sum } of outcomes) {
        expect(
          Buffer.from(sum.buffer).equals(Buffer.from(outcomes[0]!.codes.buffer)),
        ).toBe(true);
      }
    }
  });
});
