/**
 * One rank in a process of its own, as a run has it: with signs of life. Listens, gets its
 * order, then does as it is told by its parent, one thing at a time, and says what came of
 * it. How it is started is its parent's: in a network namespace, for instance.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { machineClock } from '../../../src/agent/emulation/segment.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import type { MeshTransport } from '../../../src/agent/transport/mesh-transport.ts';
import { MeshSeat } from '../../../src/agent/transport/mesh-seat.ts';
import {
  chooseTransport,
  type TransportKind,
} from '../../../src/agent/transport/transport-choice.ts';
import type { EmulatedNetwork } from '../../../src/shared/machines/emulated-network.ts';
import { toErrorData, type ErrorData } from '../../../src/shared/errors/errors.ts';
import type { RankAddress } from '../../../src/shared/protocol/supervisor.ts';
import { serveOrders } from '../../../src/agent/world/order-server.ts';
import { collectiveCases, collectiveOf } from './collective-cases.ts';
import { integers, runCollective } from './run-collective.ts';

export type ToLively =
  | { readonly do: 'listen'; readonly host: string }
  | {
      readonly do: 'join';
      readonly rank: number;
      readonly addresses: readonly RankAddress[];
      readonly transport: TransportKind;
      readonly encrypt: boolean;
      readonly silenceMs?: number | undefined;
      readonly network?: EmulatedNetwork | undefined;
      readonly nodes?: readonly string[] | undefined;
    }
  /** Keep this thread from everything else, as a computation would. */
  | { readonly do: 'compute'; readonly ms: number }
  /** Until a rank gives no sign of life, or gives some again. */
  | { readonly do: 'await signs'; readonly of: number; readonly silent: boolean }
  | { readonly do: 'reduce'; readonly collective: string; readonly length: number }
  /** Sends a message there and back, `times` times: one of two ranks begins. */
  | { readonly do: 'volley'; readonly bytes: number; readonly times: number }
  /** What the machine's clock says. */
  | { readonly do: 'tell the time' }
  /** Small allreduces until one fails; answered after the first. */
  | { readonly do: 'reduce for ever' }
  /** Answered with what ended them. */
  | { readonly do: 'await the end' }
  | { readonly do: 'leave' };

export type FromLively =
  | { readonly did: 'listen'; readonly address: RankAddress }
  | { readonly did: 'join' | 'compute' | 'await signs' | 'leave' | 'begin' }
  | { readonly did: 'reduce'; readonly sum: number[] }
  /** Whether all came as it was sent, and how long it took by its own clock. */
  | { readonly did: 'volley'; readonly intact: boolean; readonly ms: number }
  | { readonly did: 'tell the time'; readonly ms: number }
  | { readonly did: 'fail'; readonly error: ErrorData };

const SECRET = Buffer.alloc(32, 3);
const arena = new Arena();
const kernels = loadWasmKernels(arena);
let seat: MeshSeat;
let transport: MeshTransport;
let communicator: TransportCommunicator;
let ended: Promise<ErrorData>;

async function reduce(collective: string, length: number): Promise<number[]> {
  const { kind } = collectiveCases[collective]!;
  const input = integers(transport.rank, length, kind === 'sparse' ? 0.05 : 1);
  const [outcome] = await runCollective(
    collectiveOf(collective),
    [communicator],
    kind,
    [input],
  );
  return [...outcome!.sum];
}

/** Never more than one small allreduce ahead of the others. */
async function reduceForever(): Promise<ErrorData> {
  try {
    for (;;) await reduce('ring', 64);
  } catch (error) {
    return failed(error);
  }
}

const header = { stream: 9, epoch: 0, operation: 1, dtype: 1 };

async function volley({
  bytes,
  times,
}: Extract<ToLively, { do: 'volley' }>): Promise<{ intact: boolean; ms: number }> {
  const { rank } = transport;
  const peer = 1 - rank;
  const into = Buffer.alloc(bytes);
  const begun = performance.now();
  let intact = true;
  for (let sequence = 0; sequence < times; sequence++) {
    const out = Buffer.alloc(bytes, `${sequence} of ${rank}, `);
    const expected = Buffer.alloc(bytes, `${sequence} of ${peer}, `);
    const send = (): Promise<void> =>
      transport.send(peer, { ...header, sequence }, out);
    if (rank === 0) await send();
    await transport.receive(peer, { ...header, sequence }, into);
    if (rank === 1) await send();
    intact &&= into.equals(expected);
  }
  return { intact, ms: performance.now() - begun };
}

/** What the exchange does when it fails: tell the others. */
function failed(error: unknown): ErrorData {
  const data = toErrorData(error);
  transport.abort(data);
  return data;
}

async function obey(order: ToLively): Promise<FromLively> {
  switch (order.do) {
    case 'listen':
      seat = await MeshSeat.listen(order.host);
      return { did: 'listen', address: seat.address };
    case 'join': {
      const { rank, addresses, encrypt, silenceMs, network, nodes } = order;
      const { libc } = await chooseTransport(order.transport);
      transport = await connectMesh({
        libc,
        rank,
        addresses,
        encrypt,
        silenceMs,
        network,
        nodes,
        listener: seat.listener,
        pulse: seat.pulse,
        runId: 'lively',
        secret: SECRET,
        timeoutMs: 60_000,
      });
      communicator = new TransportCommunicator({
        arena,
        kernels,
        transport,
        stream: 0,
      });
      return { did: 'join' };
    }
    case 'compute': {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, order.ms);
      return { did: 'compute' };
    }
    case 'await signs':
      while (transport.silent.has(order.of) !== order.silent) await sleep(10);
      return { did: 'await signs' };
    case 'reduce':
      return { did: 'reduce', sum: await reduce(order.collective, order.length) };
    case 'volley':
      return { did: 'volley', ...(await volley(order)) };
    case 'tell the time':
      return { did: 'tell the time', ms: machineClock() };
    case 'reduce for ever':
      await reduce('ring', 64);
      ended = reduceForever();
      return { did: 'begin' };
    case 'await the end':
      return { did: 'fail', error: await ended };
    case 'leave':
      await transport.close();
      communicator[Symbol.dispose]();
      return { did: 'leave' };
  }
}

serveOrders<ToLively, FromLively>('test', z.custom<ToLively>(), (order) =>
  obey(order).catch((error: unknown) => ({ did: 'fail', error: failed(error) })),
);
