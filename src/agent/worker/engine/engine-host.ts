/**
 * The engine of one rank, whose calls `engine-protocol.ts` has: owns the arena's
 * allocator, the sockets and the exchange. The caller decides on which thread it runs.
 */
import { GradwireError, toErrorData } from '../../../shared/errors/errors.ts';
import type { RankAddress } from '../../../shared/protocol/supervisor.ts';
import type { Notice } from '../../../shared/records/notice.ts';
import { ExchangeEngine } from '../../exchange/exchange-engine.ts';
import { obey } from '../../exchange/order-actions.ts';
import { startWasmKernels, type LoadedKernels } from '../../kernels/wasm/load.ts';
import { Arena } from '../../memory/arena.ts';
import { StageExchange } from '../../pipeline/stage-exchange.ts';
import { PhaseClock } from '../../profile/phase-clock.ts';
import type { GpuGradient } from '../../sites/gpu-gradient.ts';
import { TUNNEL } from '../../transport/mesh-links.ts';
import { MeshSeat } from '../../transport/mesh-seat.ts';
import { connectMesh } from '../../transport/mesh.ts';
import { rankName } from '../../transport/rank-name.ts';
import { chooseTransport } from '../../transport/transport-choice.ts';
import type { Transport } from '../../transport/transport.ts';
import type { EngineCall, EngineCalls, EngineOrder } from './engine-protocol.ts';
import { offsetFor, openSite } from './open-site.ts';

type Handlers = {
  readonly [C in EngineCall]: (
    request: EngineCalls[C]['request'],
  ) => Promise<EngineCalls[C]['reply']>;
};

const RESIDUAL_DROPPED: Notice = {
  level: 'info',
  code: 'ACTIVATION_RESIDUAL_DROPPED',
  message:
    'the switch drops the residual of topk-backward, which holds gradients of activations',
};

/** Time for the others to build their models; the supervisor notices dead ranks. */
const CONNECT_MS = 30_000;
/** Kernels are bound by memory, which a few cores saturate. */
const MOST_KERNEL_THREADS = 8;

export class EngineHost {
  readonly #gpuGradient: () => GpuGradient | undefined;
  #memory: Arena | undefined;
  readonly #clock = new PhaseClock();
  #seat: MeshSeat | undefined;
  #transport: Transport | undefined;
  #kernels: LoadedKernels | undefined;
  #engine: ExchangeEngine | undefined;
  #stage: StageExchange | undefined;
  #endMeasuring: (() => void) | undefined;
  #seed = 0;

  /** `gpuGradient`: the gradient on the GPU of a trainer on this thread, if any. */
  constructor(gpuGradient: () => GpuGradient | undefined = () => undefined) {
    this.#gpuGradient = gpuGradient;
  }

  /** @throws GradwireError */
  async call<C extends EngineCall>(
    call: C,
    request: EngineCalls[C]['request'],
  ): Promise<EngineCalls[C]['reply']> {
    try {
      return await this.#handlers[call](request);
    } catch (error) {
      throw new GradwireError(toErrorData(error));
    }
  }

  order(message: EngineOrder): void {
    switch (message.type) {
      case 'obey':
        obey(this.#connected(), message.order);
        return;
      case 'advance':
        this.#connected().beside.advance(message.iteration, message.from);
        return;
      case 'exposed':
        this.#connected().beside.exposed(
          message.iteration,
          // Threads' clocks have different origins.
          message.at - performance.timeOrigin,
        );
        return;
      case 'end':
        this.#connected().requestEnd();
        return;
      case 'trace':
        this.#connected().trace(message.on);
        return;
      case 'abort':
        this.#engine?.abort(message.error);
        return;
      default:
        message satisfies never;
    }
  }

  readonly #handlers: Handlers = {
    listen: async ({ host, memory, ports }) => {
      this.#memory = new Arena(memory);
      this.#seat = await MeshSeat.listen(host, { ports, elsewhere: true });
      return { memory: this.#arena.memory, address: this.#seat.address };
    },
    connect: async (request) => {
      if (this.#seat === undefined) throw new Error('internal: not listening');
      const { listener, pulse } = this.#seat;
      const { libc, fallback } = await chooseTransport(request.transport);
      const routes: Notice[] = [];
      const nodes = new Set<string>();
      const transport = await connectMesh({
        routed: (peer, host) => {
          const address = request.addresses[peer]!;
          // All ranks of a machine are reached in the same way.
          const tunnelled = host === TUNNEL ? address.node : undefined;
          if (tunnelled !== undefined && nodes.has(tunnelled)) return;
          if (tunnelled !== undefined) nodes.add(tunnelled);
          routes.push(routeNotice(rankName(request.addresses, peer), address, host));
        },
        listener,
        pulse,
        libc,
        rank: request.rank,
        addresses: request.addresses,
        runId: request.run,
        secret: request.secret,
        encrypt: request.encrypt,
        network: request.emulated,
        nodes: request.nodes,
        timeoutMs: request.timeoutMs,
        connectMs: request.connectMs ?? CONNECT_MS,
        silenceMs: request.silenceMs,
        observer: this.#clock,
      });
      this.#transport = transport;
      this.#seed = request.seed;
      const length = request.tensors.reduce((sum, tensor) => sum + tensor.length, 0);
      this.#kernels = startWasmKernels(this.#arena, {
        threads: Math.min(request.threads, MOST_KERNEL_THREADS),
        longest: length,
      });
      const { gradient, outside, site } = openSite(
        {
          arena: this.#arena,
          kernels: this.#kernels.kernels,
          clock: this.#clock,
          onGpu: this.#gpuGradient(),
          length,
        },
        request,
      );
      this.#engine = new ExchangeEngine({
        arena: this.#arena,
        kernels: this.#kernels.kernels,
        clock: this.#clock,
        transport,
        tensors: request.tensors,
        turns: request.turns,
        site,
        seed: request.seed,
        clipNorm: request.clipNorm,
        plan: request.plan,
        switches: request.switches,
        network: request.network,
        places: request.places,
        allocated: request.allocated,
        group: request.group,
        emulated: request.emulated !== undefined,
        resume: request.resume?.state,
      });
      const fences = await this.#engine.fence(request.resume?.iteration ?? 0);
      const notices = [...routes, ...this.#engine.takeNotices()];
      if (fallback !== undefined) {
        const message = `using the tcp transport: ${fallback}`;
        notices.push({ level: 'warning', code: 'TRANSPORT_FALLBACK', message });
      }
      return { gradient, outside, fences, notices };
    },
    exchange: async ({ iteration, ...request }) => {
      const engine = this.#connected();
      const result = await engine.exchange(iteration, request);
      const fences = await engine.fence(iteration + 1);
      const notices = [...engine.takeNotices(), ...this.#followPlan()];
      return { result, fences, notices };
    },
    serve: (request) =>
      Promise.resolve({ until: this.#connected().asynchronous.serve(request) }),
    push: async ({ iteration, ...request }) => ({
      result: await this.#connected().asynchronous.push(iteration, request),
    }),
    ask: (request) => this.#connected().asynchronous.ask(request),
    meet: async ({ iteration }) => {
      const engine = this.#connected();
      const result = await engine.asynchronous.meet();
      const fences = await engine.fence(iteration);
      return { result, fences, notices: engine.takeNotices() };
    },
    save: async () => ({
      state: await this.#connected().save(),
      passages: (this.#stage?.kept ?? []).map((kept) => this.#arena.f32(kept).slice()),
    }),
    portable: () => this.#connected().portable(),
    adopt: (state) => Promise.resolve({ fits: this.#connected().adopt(state) }),
    allocate: ({ length, ownPages }) => {
      const offset = offsetFor(this.#arena, length, ownPages);
      return Promise.resolve({ vector: { offset, length } });
    },
    average: async ({ vector, measures }) => ({
      profile: await this.#connected().measures.average(vector, measures),
    }),
    divergence: async ({ vector }) => ({
      value: await this.#connected().measures.divergence(vector),
    }),
    summarize: async ({ among, values, operations }) => ({
      values: await this.#connected().measures.summarize(values, operations, among),
    }),
    countPairs: async (scores) => ({
      pairs: await this.#connected().measures.countPairs(scores),
    }),
    openStage: ({ passages = [], ...setting }) => {
      const engine = this.#connected();
      this.#stage = new StageExchange(
        {
          arena: this.#arena,
          kernels: this.#kernels!.kernels,
          transport: this.#transport!,
          ledger: engine.ledger,
          clock: this.#clock,
          seed: this.#seed,
          epoch: () => engine.epoch,
        },
        setting,
        engine.plan.activations,
      );
      for (const [i, kept] of this.#stage.kept.entries()) {
        if (i < passages.length) this.#arena.f32(kept).set(passages[i]!);
      }
      return Promise.resolve(this.#stage.vectors);
    },
    sendPassage: (call) => this.#opened().send(call),
    receivePassage: async (call) => ({ idle: await this.#opened().receive(call) }),
    sendShared: (call) => this.#opened().sendShared(call),
    receiveShared: async (call) => ({ idle: await this.#opened().receiveShared(call) }),
    settle: async () => {
      await this.#opened().settle();
      return {};
    },
    measuring: ({ begins }) => {
      if (begins) this.#endMeasuring = this.#connected().measures.setAside();
      else this.#endMeasuring?.();
      return Promise.resolve({});
    },
    sums: () => Promise.resolve({ intervals: this.#connected().observer.take() }),
    balance: () => Promise.resolve(this.#connected().ledgerImbalance()),
    close: async () => {
      this.#stage?.[Symbol.dispose]();
      this.#engine?.[Symbol.dispose]();
      await this.#transport?.close();
      await this.#seat?.close();
      await this.#kernels?.close();
      return {};
    },
  };

  get #arena(): Arena {
    if (this.#memory === undefined) throw new Error('internal: no arena before listen');
    return this.#memory;
  }

  /** Makes stages pass activations by the new plan, after a fence. */
  #followPlan(): readonly Notice[] {
    const drops = this.#stage?.use(this.#connected().plan.activations) === true;
    // Only the first stage with a residual in the first pipeline reports it.
    return drops && this.#transport!.rank === 1 ? [RESIDUAL_DROPPED] : [];
  }

  #opened(): StageExchange {
    if (this.#stage === undefined) throw new Error('internal: no stage was opened');
    return this.#stage;
  }

  #connected(): ExchangeEngine {
    if (this.#engine === undefined) throw new Error('internal: engine not connected');
    return this.#engine;
  }
}

/** The notice about a peer that is not at its stated address. */
function routeNotice(who: string, { host }: RankAddress, taken: string): Notice {
  if (taken === TUNNEL) {
    return {
      level: 'warning',
      code: 'PEER_TUNNELLED',
      message:
        `${who} is reached through an SSH tunnel because ${host} does not respond. The tunnel ` +
        'is slow and lasts only while the app that launched the run is connected. Open ports ' +
        'between the machines (gradwire nodes edit NAME --ports), or set another address (--address)',
    };
  }
  return {
    level: 'info',
    code: 'PEER_ADDRESS',
    message: `${who} is reached at ${taken} because it cannot be reached at ${host}`,
  };
}
