/** A rank's side of its program: starts it, makes a trainer of it, and compares its model. */
import { availableParallelism } from 'node:os';
import type { ErrorData } from '../../shared/errors/errors.ts';
import { statedKind } from '../../shared/records/metric.ts';
import type { Notice } from '../../shared/records/notice.ts';
import { MOST_TENSORS, type TensorsRecord } from '../../shared/records/tensors.ts';
import { isProgram, launchExample } from '../../shared/spec/program-spec.ts';
import type { RankOrderOf } from '../../shared/orders/orders.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { FromWorker, ToWorker } from '../../shared/protocol/worker.ts';
import { machineClock } from '../bridge/machine-clock.ts';
import type { Program } from '../bridge/program.ts';
import { ProgramTrainer } from '../bridge/program-trainer.ts';
import { unknownLayer } from '../plan/layer-names.ts';
import type { EngineClient } from './engine/engine-client.ts';
import { observedForecast } from './observed-forecast.ts';
import { observe, type ObservedOptions } from './observed-program.ts';
import { ObservedTraces } from './observed-traces.ts';
import { masterPort } from './master-port.ts';
import { startProgram } from './program-start.ts';
import { requireSameModels } from './same-models.ts';
import { requireTurnSettings } from './turn-settings.ts';

type Configuration = Extract<ToWorker, { type: 'configure' }>;

export interface ProgramListener {
  /** Takes the error when the program is lost. */
  readonly failed: (error: unknown) => void;
  readonly told: (notice: Notice) => void;
}

export class ProgramRank {
  readonly #configuration: Configuration;
  readonly #listener: ProgramListener;
  #program: Program | undefined;
  #trainer: ProgramTrainer | undefined;
  /** Orders to trace that came before the program was there. */
  readonly #early: RankOrderOf<'trace'>[] = [];
  /** Traced steps of a program that is only observed, once it has begun. */
  #traces: ObservedTraces | undefined;

  constructor(configuration: Configuration, listener: ProgramListener) {
    this.#configuration = configuration;
    this.#listener = listener;
  }

  /** Creates the rank's side of its program; undefined if its workload is not a program. */
  static of(
    configuration: Configuration,
    listener: ProgramListener,
  ): ProgramRank | undefined {
    const { workload } = configuration.spec;
    return isProgram(workload) ? new ProgramRank(configuration, listener) : undefined;
  }

  get isObserved(): boolean {
    return this.#configuration.spec.workload.observe === true;
  }

  /** The rank's address, and where its program finds the others of its own process group. */
  async addressOf(address: RankAddress): Promise<RankAddress> {
    const { listen, ports, rank } = this.#configuration;
    if (rank !== 0) return address;
    return { ...address, master: await masterPort(listen, ports) };
  }

  /** Starts the program. Resolves when it has built its model. */
  async open(addresses: readonly RankAddress[]): Promise<ProgramTrainer> {
    const program = await startProgram({
      configuration: this.#configuration,
      addresses,
      failed: this.#listener.failed,
    });
    this.#program = program;
    this.#tellAwaited();
    this.#trainer = new ProgramTrainer(program, await program.attached());
    this.#requireLayers(this.#trainer);
    if (this.turns !== undefined) requireTurnSettings(this.#configuration.spec);
    return this.#trainer;
  }

  /**
   * The record of the model's tensors. Only rank 0 has it. Undefined also if there are more tensors
   * than a record may have, and for models that step in turns, whose exchanges differ.
   */
  get tensorsRecord(): TensorsRecord | undefined {
    const { tensors = [] } = this.#trainer ?? {};
    const { rank } = this.#configuration;
    if (rank > 0 || this.turns !== undefined || tensors.length > MOST_TENSORS) return;
    return {
      type: 'tensors',
      at: Date.now(),
      tensors: tensors.map(({ name, shape }) => ({ name, shape })),
    };
  }

  /** Names of its models, if they step in turns. */
  get turns(): readonly string[] | undefined {
    return this.#trainer?.turns;
  }

  /** The program and its trainer, for the steps. */
  get steps(): { readonly program: Program; readonly programTrainer: ProgramTrainer } {
    return { program: this.#opened, programTrainer: this.#trainer! };
  }

  /**
   * Lets the program go on, once all ranks are connected.
   * @param gradient the engine's input vector, whose pages the program shares from now on
   * @throws GradwireError `PROGRAM_MODELS_DIFFER`
   */
  async begin(engine: EngineClient, gradient: Float32Array): Promise<void> {
    const trainer = this.#trainer!;
    const { rank, spec } = this.#configuration;
    await requireSameModels(engine, trainer.tensors, { rank, ranks: spec.world.ranks });
    const place = { memory: gradient.buffer, offset: gradient.byteOffset };
    await this.#opened.begin(trainer.length, place);
  }

  /** Follows a program that is only observed, until it has no further step. */
  async observe(
    more: Pick<ObservedOptions, 'report' | 'room' | 'stops'> & {
      readonly ready: (report: FromWorker) => void;
    },
  ): Promise<void> {
    const { plan, rank, spec } = this.#configuration;
    const { backend, device, metric, parameters, tensors } = this.#trainer!;
    await this.#opened.begin(0);
    const { report } = more;
    const { ranks } = spec.world;
    const traces = new ObservedTraces({ rank, ranks, clock: machineClock(), report });
    this.#traces = traces;
    for (const order of this.#early) this.trace(order);
    more.ready({
      type: 'ready',
      pid: process.pid,
      backend,
      device,
      cores: availableParallelism(),
      parameters,
      ...statedKind(metric),
    });
    const program = this.#opened;
    await observe({
      ...more,
      rank,
      ranks,
      program,
      traces,
      plan,
      iterations: spec.iterations,
      elements: parameters,
      forecast: (own) => observedForecast(this.#configuration, tensors, own),
    });
  }

  /** Has steps of a program that is only observed traced. */
  trace(order: RankOrderOf<'trace'>): void {
    const { from = 0, iterations } = order;
    if (this.#traces === undefined) {
      this.#early.push(order);
      return;
    }
    this.#opened.trace(from, iterations);
    this.#traces.wants(from, iterations);
  }

  /** Ends a program that is only observed. */
  stop(): void {
    this.#program?.stop();
  }

  /** Resolves when the program is gone. */
  async finish(): Promise<void> {
    const signal = await this.#program?.finish();
    if (signal === undefined) return;
    this.#listener.told({
      level: 'warning',
      code: 'PROGRAM_CRASHED_LATE',
      message: `the program of rank ${this.#configuration.rank} had ended, and its interpreter was ended by ${signal}: nothing of the run is missing`,
    });
  }

  abort(error: ErrorData): void {
    this.#program?.abort(error);
  }

  /** @throws GradwireError `LAYER_UNKNOWN`: only now are the names of its tensors known */
  #requireLayers({ tensors }: ProgramTrainer): void {
    const { plan, switches } = this.#configuration;
    const names = tensors.map(({ name }) => name);
    const [first] = [plan, ...switches.map((one) => one.plan)].flatMap(
      (one) => unknownLayer(one, names) ?? [],
    );
    if (first !== undefined) throw first;
  }

  /** Says how to start programs that nothing here starts. */
  #tellAwaited(): void {
    const { rank, run, spec } = this.#configuration;
    const { command, external } = spec.workload;
    if (external !== true || command !== undefined || rank !== 0) return;
    const { ranks } = spec.world;
    this.#listener.told({
      level: 'info',
      code: 'PROGRAM_AWAITED',
      message: `the ranks wait for your program: GRADWIRE_RUN=${run} ${launchExample(ranks)}`,
    });
  }

  get #opened(): Program {
    if (this.#program === undefined)
      throw new Error('internal: no program was started');
    return this.#program;
  }
}
