/**
 * The engine thread: owns the arena's allocator, the sockets and the exchange, so that
 * communication goes on while the trainer thread computes.
 */
import { parentPort } from 'node:worker_threads';
import { toErrorData } from '../../shared/errors.ts';
import { ExchangeEngine } from '../exchange/exchange-engine.ts';
import { Arena } from '../kernels/arena.ts';
import { loadWasmKernels } from '../kernels/wasm/load.ts';
import { PhaseClock } from '../profile/phase-clock.ts';
import { connectMesh } from '../transport/mesh.ts';
import { listenTcp, type TcpListener } from '../transport/tcp-listener.ts';
import type { Transport } from '../transport/transport.ts';
import type {
  EngineCall,
  EngineCalls,
  FromEngine,
  ToEngine,
} from './engine-protocol.ts';

const port = parentPort;
if (port === null) throw new Error('internal: the engine runs in a worker thread');

const arena = new Arena();
const clock = new PhaseClock();
let listener: TcpListener | undefined;
let transport: Transport | undefined;
let engine: ExchangeEngine | undefined;

type Handlers = {
  readonly [C in EngineCall]: (
    request: EngineCalls[C]['request'],
  ) => Promise<EngineCalls[C]['reply']>;
};

const handlers: Handlers = {
  listen: async ({ host }) => {
    listener = await listenTcp(host);
    return { memory: arena.memory, address: listener.address };
  },
  connect: async (request) => {
    if (listener === undefined) throw new Error('internal: connect before listen');
    const kernels = await loadWasmKernels(arena);
    transport = await connectMesh({
      listener,
      rank: request.rank,
      addresses: request.addresses,
      runId: request.run,
      secret: request.secret,
      timeoutMs: request.timeoutMs,
      observer: clock,
    });
    const length = request.tensors.reduce((sum, tensor) => sum + tensor.length, 0);
    const { offset } = arena.allocateVector(length);
    const gradient = { offset, length };
    engine = new ExchangeEngine({
      arena,
      kernels,
      transport,
      clock,
      tensors: request.tensors,
      gradient,
      seed: request.seed,
      plan: request.plan,
      switches: request.switches,
    });
    return { gradient, fences: engine.fence(0) };
  },
  exchange: async ({ iteration }) => {
    const running = connected();
    const result = await running.exchange(iteration);
    return { result, fences: running.fence(iteration + 1) };
  },
  allocate: async ({ length }) => {
    const { offset } = arena.allocateVector(length);
    return { vector: { offset, length } };
  },
  average: async ({ vector }) => ({ profile: await connected().average(vector) }),
  divergence: async ({ vector }) => ({ value: await connected().divergence(vector) }),
  summarize: async ({ values, operations }) => ({
    values: await connected().summarize(values, operations),
  }),
  balance: async () => connected().ledgerImbalance(),
  close: async () => {
    await transport?.close();
    await listener?.close();
    return {};
  },
};

function connected(): ExchangeEngine {
  if (engine === undefined) throw new Error('internal: the engine is not connected');
  return engine;
}

async function answer<C extends EngineCall>(
  id: number,
  call: C,
  request: EngineCalls[C]['request'],
): Promise<FromEngine> {
  try {
    return { type: 'reply', id, reply: await handlers[call](request) };
  } catch (error) {
    return { type: 'error', id, error: toErrorData(error) };
  }
}

port.on('message', (message: ToEngine) => {
  switch (message.type) {
    case 'call':
      void answer(message.id, message.call, message.request).then((reply) => {
        port.postMessage(reply);
      });
      return;
    case 'learn':
      connected().learn(message.planSwitch);
      return;
    case 'stop':
      connected().requestStop();
      return;
    case 'abort':
      engine?.abort(message.error);
      return;
    default:
      message satisfies never;
  }
});
