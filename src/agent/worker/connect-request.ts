/** The request by which a rank's engine connects to its peers, from the rank's configuration. */
import type { RankOrder } from '../../shared/orders/orders.ts';
import { emulatedNetwork } from '../../shared/machines/emulated-network.ts';
import type { PlanSwitch } from '../../shared/plan/exchange-plan.ts';
import { isEncrypted, type ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { rankLimit } from '../../shared/spec/optimizer-spec.ts';
import { SYNTHETIC } from '../../shared/spec/parallelism/kind.ts';
import { exchangeFrom } from '../../shared/spec/parallelism/local-steps.ts';
import { groupOf } from '../../shared/spec/parallelism/pipeline.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { ToWorker } from '../../shared/protocol/worker.ts';
import type { RankCheckpoint } from '../checkpoint/rank-checkpoint.ts';
import type { FlatTensor } from '../plan/buckets.ts';
import type { EngineCalls } from './engine/engine-protocol.ts';

type Configuration = Extract<ToWorker, { type: 'configure' }>;

export interface Connecting {
  /** Addresses of all ranks. */
  readonly addresses: readonly RankAddress[];
  readonly tensors: readonly FlatTensor[];
  /** Names of the models that step in turns, if they do. */
  readonly turns?: readonly string[] | undefined;
  /** The checkpoint to resume from; undefined at the start of a run. */
  readonly resume: RankCheckpoint | undefined;
}

/**
 * Time to wait for other ranks, longer than any program takes to read its data before it builds its
 * model, or a slow disk to import PyTorch. The supervisor notices ranks that end meanwhile.
 */
const PROGRAM_CONNECT_MS = 86_400_000;

/**
 * Whether the gradient has memory pages of its own, which a program or PyTorch's process shares.
 * Not with PyTorch where it computes gradients into other memory: beside the exchange of the one
 * before (`doubleBuffer`), or also at earlier weights (`fullGradientEvery`).
 */
export const hasOwnPages = ({
  backend,
  doubleBuffer,
  optimizer,
  workload,
}: ExperimentSpec): boolean =>
  isProgram(workload) ||
  (backend === 'torch' &&
    doubleBuffer !== true &&
    (optimizer.fullGradientEvery ?? 0) === 0);

export function connectRequest(
  configuration: Configuration,
  { addresses, resume, tensors, turns }: Connecting,
): EngineCalls['connect']['request'] {
  const { network, places, plan, rank, run, secret, spec, switches, threads } =
    configuration;
  return {
    run,
    rank,
    seed: spec.seed,
    clipNorm: rankLimit(spec.optimizer),
    addresses,
    secret,
    timeoutMs: spec.patienceSeconds * 1000,
    ownPages: hasOwnPages(spec),
    // Other workloads have their weights in the arena.
    mayUseWindows: isProgram(spec.workload) || spec.workload.model === SYNTHETIC,
    connectMs:
      isProgram(spec.workload) || spec.backend === 'torch'
        ? PROGRAM_CONNECT_MS
        : undefined,
    silenceMs: spec.timeoutSeconds * 1000,
    transport: spec.transport,
    encrypt: isEncrypted(spec),
    emulated: spec.network && emulatedNetwork(spec.network),
    // Addresses name no node in a run on one node.
    nodes: addresses.map(({ node }) => node ?? spec.world.nodes[0]!),
    threads,
    tensors,
    turns,
    plan,
    switches: switches.map((one) => countedSwitch(one, spec)),
    network,
    places,
    // Only read if ranks are on several nodes: with one machine in the spec, that is a cluster.
    allocated: spec.world.nodes.length === 1,
    group: groupOf(spec, rank),
    resume: resume && {
      iteration: exchangeFrom(resume.iteration, spec),
      state: resume.engine,
    },
  };
}

/** An order in the engine's numbering, which counts exchanges. */
export const countedOrder = (order: RankOrder, spec: ExperimentSpec): RankOrder =>
  order.type === 'switch'
    ? { ...order, switch: countedSwitch(order.switch, spec) }
    : order;

const countedSwitch = (planSwitch: PlanSwitch, spec: ExperimentSpec): PlanSwitch => ({
  ...planSwitch,
  notBefore: exchangeFrom(planSwitch.notBefore, spec),
});
