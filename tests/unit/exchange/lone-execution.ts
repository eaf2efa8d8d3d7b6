/**
 * A plan as a run executes it, by one rank alone, noting what is said to the other ranks.
 * The gradient is Gaussian noise.
 */
import type { CollectiveDefinition } from '../../../src/agent/collectives/collective.ts';
import { payloadRegion } from '../../../src/agent/collectives/payload-region.ts';
import type { ExpectedMessage } from '../../../src/agent/methods/method.ts';
import type { Combined, Payload } from '../../../src/agent/memory/payload.ts';
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

  override reduce(
    stream: number,
    collective: CollectiveDefinition,
    payload: Payload,
  ): Promise<Combined> {
    this.#note('reduce', payload);
    return super.reduce(stream, collective, payload);
  }

  override gather(stream: number, payload: Payload): Promise<Combined> {
    this.#note('gather', payload);
    return super.gather(stream, payload);
  }

  override broadcast(
    stream: number,
    payload: Payload,
    root: number,
  ): Promise<Combined> {
    this.#note('broadcast', payload);
    return super.broadcast(stream, payload, root);
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
