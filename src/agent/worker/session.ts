/**
 * One rank's session, directed by its supervisor: configure, connect, train, finish. Any
 * error ends it: peers get the reason, the supervisor gets the coded error, the process
 * exits.
 */
import { availableParallelism } from 'node:os';
import { inputError, type ErrorData } from '../../shared/errors/errors.ts';
import type { RankOrder } from '../../shared/orders/orders.ts';
import { checkpointInterval } from '../../shared/spec/experiment-spec.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import { statedKind } from '../../shared/records/metric.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type {
  FromWorker,
  ToWorker,
  WrittenCheckpoint,
} from '../../shared/protocol/worker.ts';
import { optimizeEarly } from '../bundle/early-optimization.ts';
import {
  checkpointFile,
  loadRank,
  type CheckpointOwner,
  type RankCheckpoint,
} from '../checkpoint/rank-checkpoint.ts';
import { Arena, arenaMemory } from '../memory/arena.ts';
import type { GpuGradient } from '../sites/gpu-gradient.ts';
import { openTrainer } from '../torch/open-trainer.ts';
import { mayHaveGpu } from '../training/create-trainer.ts';
import type { Trainer } from '../training/trainer.ts';
import type { ReportChannel } from '../world/report-channel.ts';
import { CheckpointKeeper } from './checkpoint-keeper.ts';
import { countedOrder, hasOwnPages } from './connect-request.ts';
import { connectEngine } from './connected-engine.ts';
import {
  EngineHere,
  EngineOnThread,
  type EngineClient,
} from './engine/engine-client.ts';
import { besideGpu, enginePlace, type EnginePlace } from './engine/engine-place.ts';
import type { EngineCalls } from './engine/engine-protocol.ts';
import { locatedError } from './located-error.ts';
import { parameterArena } from './parameter-arena.ts';
import { ProgramRank } from './program-rank.ts';
import { connectStage } from './stage-connection.ts';
import {
  exchangesOnHost,
  gradientsOnDevice,
  READ_BACK,
  stepsOf,
} from './steps/open-steps.ts';
import { isDue } from './steps/steps.ts';
import { rankError } from './trainers/rank-error.ts';
import { ThreadsBeside } from './trainers/threads-beside.ts';
import { trainerOptions, trainerThreadsOf } from './trainer-options.ts';
import { TrainingLoop } from './training-loop.ts';

type Configuration = Extract<ToWorker, { type: 'configure' }>;

export interface SessionOptions {
  /** File of the engine thread's script. */
  readonly engineThread: string;
  /** File of the script of trainer threads beside the worker's own. */
  readonly gradientThread: string;
  readonly reports: ReportChannel<FromWorker, RunRecord>;
  /** Ends the process; called once. */
  readonly exit: (code: number) => void;
}

export class WorkerSession {
  readonly #options: SessionOptions;
  #engine: EngineClient | undefined;
  #configuration: Configuration | undefined;
  #trainer: Promise<Trainer> | undefined;
  /** Threads beside this one, if the rank has several trainer threads. */
  #beside: ThreadsBeside | undefined;
  /** Memory of the arena, in which a trainer on the CPU computes as well. */
  readonly #memory = arenaMemory();
  #engineIsInline = false;
  /** The user's program that this rank runs, if its workload is one. */
  #program: ProgramRank | undefined;
  /**
   * The gradient on the GPU, if the engine shares the trainer's thread or does not need
   * it.
   */
  #gpuGradient: GpuGradient | undefined;
  /** Addresses of all ranks, once they are known. */
  #addresses: readonly RankAddress[] | undefined;
  #connected = false;
  /** Orders that came before the engine was connected. */
  readonly #early: RankOrder[] = [];
  #ended = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  handle(message: ToWorker): void {
    switch (message.type) {
      case 'configure':
        this.#guard(this.#configure(message));
        return;
      case 'begin':
        this.#guard(this.#begin(message));
        return;
      case 'order':
        this.#take(message.order);
        return;
      default:
        message satisfies never;
    }
  }

  fail(error: ErrorData): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.reports.flush();
    this.#engine?.abort(error);
    this.#program?.abort(error);
    this.#options.reports.send({ type: 'failed', error });
    this.#options.exit(1);
  }

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => {
      const data = rankError(error);
      const rank = this.#configuration?.rank;
      this.fail(rank === undefined ? data : locatedError(data, rank, this.#addresses));
    });
  }

  async #configure(configuration: Configuration): Promise<void> {
    this.#configuration = configuration;
    const { spec, rank, threads, engine: byCores } = configuration;
    this.#program = ProgramRank.of(configuration, {
      failed: (error) => {
        this.fail(locatedError(rankError(error), rank, this.#addresses));
      },
      told: (notice) => {
        this.#options.reports.gather({ type: 'notice', at: Date.now(), ...notice });
        this.#options.reports.flush();
      },
    });
    if (this.#program !== undefined) {
      // The program's process computes, so this thread has time.
      const place = spec.engine === 'auto' ? byCores : spec.engine;
      const own = await this.#openEngine(this.#program.isObserved ? 'inline' : place);
      const address = await this.#program.addressOf(own.address);
      this.#options.reports.send({ type: 'listening', address });
      return;
    }
    const place = enginePlace({ spec, byCores, mayHaveGpu });
    const early = place === undefined ? undefined : this.#openEngine(place);
    // The model is built while the other ranks start and addresses are exchanged.
    const trainerThreads = trainerThreadsOf(configuration);
    const options = trainerOptions(configuration, this.#memory);
    const trainer = openTrainer(options);
    this.#trainer = trainer;
    if (trainerThreads > 1) {
      this.#beside = new ThreadsBeside(this.#options.gradientThread, {
        ...options,
        threads: Math.max(1, Math.floor(threads / trainerThreads)),
        count: trainerThreads,
      });
    }
    trainer.catch(() => {
      // Reported by #begin or below; this keeps an early failure from being unhandled.
    });
    const { address } = await (early ??
      this.#openEngine(besideGpu(await trainer, byCores)));
    this.#options.reports.send({ type: 'listening', address });
    await trainer;
    await this.#beside?.ready;
  }

  /** The engine's listening address. */
  #openEngine(place: EnginePlace): Promise<EngineCalls['listen']['reply']> {
    const { listen: host, ports, spec } = this.#configuration!;
    this.#engine =
      place === 'thread'
        ? new EngineOnThread(this.#options.engineThread)
        : new EngineHere(() => (exchangesOnHost(spec) ? undefined : this.#gpuGradient));
    this.#engineIsInline = place === 'inline';
    return this.#engine.call('listen', { host, ports, memory: this.#memory });
  }

  /** The checkpoint to resume from; undefined at the start of a run. */
  async #resume(): Promise<RankCheckpoint | undefined> {
    const { checkpoints, resume } = this.#configuration!;
    if (checkpoints === undefined || resume === undefined || resume === 0) {
      return undefined;
    }
    const file = checkpointFile(checkpoints, resume, this.#owner.rank);
    return await loadRank(file, this.#owner);
  }

  #checkpoints(from: number): CheckpointKeeper | undefined {
    const { checkpoints: directory, spec } = this.#configuration!;
    // A program has state that is not here.
    if (directory === undefined || isProgram(spec.workload)) return undefined;
    const every = checkpointInterval(spec) || Infinity;
    const written = (checkpoint: WrittenCheckpoint): void => {
      this.#options.reports.send({ type: 'checkpoint', ...checkpoint });
    };
    return new CheckpointKeeper(
      { owner: this.#owner, directory, every, written },
      from,
    );
  }

  /**
   * `auto` is resolved by each rank, and sums of two backends differ in their last bits.
   * @throws GradwireError `BACKENDS_DIFFER`
   */
  async #agreeOnBackend(
    { backend, whyBackend }: Trainer,
    engine: EngineClient,
  ): Promise<void> {
    const { spec, places = [] } = this.#configuration!;
    // On one machine ranks differ only where GPUs are scarce, or not all of use.
    const mayDiffer = new Set(places).size > 1 || mayHaveGpu();
    if (spec.backend !== 'auto' || spec.world.ranks === 1 || !mayDiffer) return;
    const { values } = await engine.call('summarize', {
      values: [backend === 'webgpu' ? 1 : 0],
      operations: ['max'],
    });
    if (backend === 'webgpu' || values[0] === 0) return;
    throw inputError(
      'BACKENDS_DIFFER',
      `backend: auto chose webgpu for other ranks but wasm for this one: ${whyBackend ?? ''}`,
      {
        place: 'backend: auto',
        next: 'Choose one for all ranks: backend: wasm, or backend: webgpu.',
      },
    );
  }

  #whyBackend(trainer: Trainer): string | undefined {
    const unasked = this.#configuration!.spec.backend === 'auto';
    return this.#beside !== undefined && unasked
      ? 'several trainer threads compute on the CPU'
      : trainer.whyBackend;
  }

  async #joinPipeline(
    trainer: Trainer,
    arena: Arena,
    passages: readonly Float32Array[] | undefined,
  ): Promise<void> {
    const setting = trainer.stageSetting?.();
    if (setting === undefined) return;
    const engine = this.#engine!;
    const { inspectEvery } = this.#configuration!.spec;
    const vectors = await engine.call('openStage', { ...setting, passages });
    trainer.joinPipeline!(
      connectStage({
        engine,
        arena,
        vectors,
        after: setting.after,
        inspects: (iteration) => isDue(inspectEvery, { since: iteration, iteration }),
      }),
    );
  }

  /** Obeys an order, or keeps it until the engine, which an observed program lacks, is connected. */
  #take(order: RankOrder): void {
    const observed = this.#program?.isObserved === true ? this.#program : undefined;
    if (observed !== undefined && order.type === 'trace') observed.trace(order);
    else if (this.#connected) this.#order(order);
    else this.#early.push(order);
    if (this.#stopsEarly) observed?.stop();
  }

  /** Passes an order on to the engine, in its numbering. */
  #order(order: RankOrder): void {
    this.#engine!.obey(countedOrder(order, this.#configuration!.spec));
  }

  /** Whether a stop or a pause came before the engine was connected. */
  get #stopsEarly(): boolean {
    return this.#early.some(({ type }) => type === 'stop' || type === 'pause');
  }

  get #owner(): CheckpointOwner {
    const { run, rank, spec } = this.#configuration!;
    return { run, rank, world: spec.world.ranks };
  }

  async #begin({ addresses }: Extract<ToWorker, { type: 'begin' }>): Promise<void> {
    this.#addresses = addresses;
    const configuration = this.#configuration;
    const engine = this.#engine;
    if (configuration === undefined || engine === undefined) {
      throw new Error('internal: begin before configure');
    }
    const program = this.#program;
    const trainer: Trainer = await (program?.open(addresses) ?? this.#trainer!);
    const model = program?.tensorsRecord;
    if (model !== undefined) this.#options.reports.gather(model);
    if (program?.isObserved === true) {
      await this.#observe(program);
      return;
    }
    const { spec, rank } = configuration;
    const resume = await this.#resume();
    if (gradientsOnDevice(spec, this.#engineIsInline)) {
      this.#gpuGradient = trainer.openGpuGradient();
    }
    const arena = new Arena(this.#memory);
    const { gradient, onHost, fences, notices } = await connectEngine(
      engine,
      arena,
      configuration,
      { addresses, tensors: trainer.tensors, turns: program?.turns, resume },
    );
    await this.#agreeOnBackend(trainer, engine);
    await program?.begin(engine, onHost!);
    this.#connected = true;
    for (const order of this.#early) this.#order(order);
    this.#options.reports.send({
      type: 'ready',
      pid: process.pid,
      backend: trainer.backend,
      device: trainer.device,
      bus: trainer.bus,
      cores: availableParallelism(),
      why: this.#whyBackend(trainer),
      parameters: trainer.parameters,
      ...statedKind(trainer.metric),
      chance: trainer.chance,
    });
    await this.#joinPipeline(trainer, arena, resume?.passages);
    // Servers move the weights.
    if (gradient !== undefined && asynchronousOf(spec) === undefined) {
      const own = hasOwnPages(spec);
      await trainer.joinArena?.(parameterArena(engine, arena, gradient, own));
    }
    const onDevice = this.#gpuGradient;
    const readsBack = trainer.backend === 'webgpu' && onDevice === undefined;
    const loop = new TrainingLoop({
      rank,
      spec,
      trainer,
      engine,
      arena,
      openSteps: stepsOf(spec, {
        arena,
        onDevice,
        onHost,
        program: program?.steps,
        threads: await this.#beside?.attach(engine, arena.memory, trainer.length),
      }),
      fences,
      notices: readsBack ? [READ_BACK, ...notices] : notices,
      report: (record) => {
        this.#options.reports.gather(record);
      },
      engineIsInline: this.#engineIsInline,
      room: () => this.#options.reports.room(),
      checkpoints: this.#checkpoints(resume?.iteration ?? 0),
      resume,
      begun: optimizeEarly,
    });
    await loop.run(resume?.engine.schedule.plan ?? configuration.plan);
    this.#options.reports.flush();
    await engine.close();
    this.#gpuGradient?.[Symbol.dispose]();
    trainer.close();
    await this.#beside?.close();
    await program?.finish();
    this.#finished();
  }

  async #observe(program: ProgramRank): Promise<void> {
    const { reports } = this.#options;
    const stops = (): boolean => this.#stopsEarly;
    await program.observe({
      ready: (report) => {
        reports.send(report);
      },
      report: (record) => {
        this.#options.reports.gather(record);
      },
      room: () => reports.room(),
      stops,
    });
    if (stops()) program.stop();
    this.#options.reports.flush();
    await program.finish();
    this.#finished();
  }

  #finished(): void {
    this.#ended = true;
    this.#options.reports.send({ type: 'finished' });
    this.#options.exit(0);
  }
}
