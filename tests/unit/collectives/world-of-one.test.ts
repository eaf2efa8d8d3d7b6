/** P = 1 needs no sockets: every collective and primitive is the identity. */
import { expect, test } from 'vitest';
import { broadcast } from '../../../src/agent/collectives/broadcast.ts';
import { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { gather } from '../../../src/agent/collectives/gather.ts';
import { collectives } from '../../../src/agent/collectives/registry.ts';
import { smallAllreduce } from '../../../src/agent/collectives/small-allreduce.ts';
import type { Payload } from '../../../src/agent/memory/payload.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { referenceKernels } from '../../../src/agent/kernels/reference/reference-kernels.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';

const arena = new Arena();
const kernels = referenceKernels(arena);
const transport = await connectMesh({
  rank: 0,
  addresses: [{ host: '127.0.0.1', port: 1 }],
  runId: 'alone',
  secret: new Uint8Array(32),
  timeoutMs: 1000,
});
const communicator = new TransportCommunicator({
  arena,
  kernels,
  transport,
  stream: 1,
});
const begun = () => communicator.begin({ epoch: 0, operation: 1, dtype: 1 });

function payloadOf(kind: Payload['kind']): Payload {
  const data = { ...arena.allocate(16), bytes: 16 };
  if (kind === 'sparse') {
    arena.u32(data.offset, 2).set([1, 3]);
    arena.f32({ offset: data.offset + 8, length: 2 }).set([-2, 5]);
    return { kind, length: 10, count: 2, data };
  }
  arena.f32({ offset: data.offset, length: 4 }).set([1, -2, 3, 4]);
  return { kind, length: 4, data };
}

const bytesAt = (offset: number): number[] => [...arena.u8(offset, 16)];

test.each(
  [...collectives.values()].flatMap((one) => one.takes.map((k) => [one, k] as const)),
)('$0.id of $1 payloads', async (collective, kind) => {
  const payload = payloadOf(kind);
  const before = bytesAt(payload.data.offset);
  const combined = await collective.run(begun(), payload);
  if (!('data' in combined)) throw new Error(`a sum is not ${combined.form}`);
  expect(bytesAt(combined.data.offset)).toEqual(before);
  expect(combined.form).toBe(kind === 'sparse' ? 'sparse' : 'dense');
});

test('gather, broadcast and small allreduce', async () => {
  const payload = payloadOf('sparse');
  const expected = { form: 'gathered', payloads: [payload] };
  expect(await gather.run(begun(), payload)).toEqual(expected);
  expect(await broadcast.run(begun(), payload, 0)).toEqual(expected);
  const values = [1, -2, 3];
  expect(await smallAllreduce(begun(), values, ['min', 'max', 'sum'])).toEqual(values);
  expect(transport.counters).toEqual({
    sent: 0,
    received: 0,
    framingSent: 0,
    framingReceived: 0,
  });
  await transport.close();
});
