/**
 * A plan as a run executes it, by one rank alone, noting what is said to the other ranks.
 * The gradient is Gaussian noise.
 */
import { broadcast } from '../../../src/agent/collectives/broadcast.ts';
import type { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { gather } from '../../../src/agent/collectives/gather.ts';
import { payloadRegion } from '../../../src/agent/collectives/payload-region.ts';
import type { ExpectedMessage } from '../../../src/agent/methods/method.ts';
import type { Payload } from '../../../src/agent/memory/payload.ts';
import { ArenaSite } from '../../../src/agent/sites/arena-site.ts';
import type { FlatTensor } from '../../../src/agent/plan/buckets.ts';
import {
  CollectiveGroup,
  type GroupOptions,
} from '../../../src/agent/exchange/collective-group.ts';
import { NetworkKnowledge } from '../../../src/agent/auto/network-knowledge.ts';
import { PlanExecution } from '../../../src/agent/exchange/plan-execution.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { loadWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { ByteLedger } from '../../../src/agent/profile/byte-ledger.ts';
import { PhaseClock } from '../../../src/agent/profile/phase-clock.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import type { ExchangePlan } from '../../../src/shared/plan/exchange-plan.ts';

const DEVIATION = 0.01;

class NotingGroup extends CollectiveGroup {
  readonly messages: ExpectedMessage[] = [];

  readonly #noted = new Set<TransportCommunicator>();

  override communicator(stream: number): TransportCommunicator {
    const communicator = super.communicator(stream);
    if (this.#noted.has(communicator)) return communicator;
    this.#noted.add(communicator);
    const begin = communicator.beginWith.bind(communicator);
    communicator.beginWith = (operation, payload) => {
      this.#note(operationOf(operation), payload);
      return begin(operation, payload);
    };
    return communicator;
  }

  #note(operation: ExpectedMessage['operation'], payload: Payload): void {
    const { kind, length } = payload;
    const entries = payload.kind === 'sparse' ? payload.count : undefined;
    this.messages.push({
      operation,
      kind,
      length,
      bytes: payloadRegion(payload).bytes,
      ...(entries === undefined ? {} : { entries }),
    });
  }
}

function operationOf({
  code,
}: {
  readonly code: number;
}): ExpectedMessage['operation'] {
  if (code === gather.code) return 'gather';
  return code === broadcast.code ? 'broadcast' : 'reduce';
}

/** What is said in the last of a few exchanges, of which the first is `iteration`. */
export async function messagesOf(
  plan: ExchangePlan,
  tensors: readonly FlatTensor[],
  iteration: number,
  exchanges: number,
): Promise<readonly ExpectedMessage[]> {
  const arena = new Arena();
  const kernels = loadWasmKernels(arena);
  const clock = new PhaseClock();
  const transport = await connectMesh({
    ...{ rank: 0, addresses: [{ host: '127.0.0.1', port: 1 }], runId: 'alone' },
    secret: new Uint8Array(32),
    timeoutMs: 1000,
  });
  const options: GroupOptions = {
    arena,
    kernels,
    transport,
    clock,
    seed: 1,
    epoch: () => 0,
    ledger: new ByteLedger(transport.counters),
  };
  const group = new NotingGroup(options);
  const length = tensors.reduce((sum, tensor) => sum + tensor.length, 0);
  const gradient = arena.allocateVector(length);
  using site = new ArenaSite({ arena, kernels, clock, gradient });
  using execution = new PlanExecution({
    plan,
    tensors,
    site,
    group,
    arena,
    clock,
    transport,
    seed: 1,
    knowledge: new NetworkKnowledge(),
  });
  const draw = congruential(5);
  for (let index = 0; index < exchanges; index++) {
    const values = arena.f32(gradient);
    for (let i = 0; i < length; i++) values[i] = DEVIATION * nearlyNormal(draw);
    group.messages.length = 0;
    await execution.run(iteration + index);
  }
  await transport.close();
  return group.messages;
}

/** The sum of twelve uniforms, centred. */
function nearlyNormal(draw: () => number): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += draw();
  return sum;
}

function congruential(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
