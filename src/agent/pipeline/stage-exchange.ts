/**
 * Exchanges of a pipeline's stage with the other stages: activations with its neighbours, and
 * shared tensors with the stage that owns them.
 */
import type { ActivationPlan } from '../../shared/plan/activation-plan.ts';
import type {
  MatrixShape,
  PassedBytes,
  SharedPassage,
  StageSetting,
} from './stage-setting.ts';
import {
  TransportCommunicator,
  type MessageLedger,
} from '../collectives/communicator.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena, Region, Vector } from '../memory/arena.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { Transport } from '../transport/transport.ts';
import { Boundary, type PassageCall } from './boundary.ts';

/** Parts that all exchanges of a stage share. */
export interface PipelineEngine {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly transport: Transport;
  readonly ledger: MessageLedger;
  readonly clock: PhaseClock;
  readonly seed: number;
  /** The epoch in force. */
  readonly epoch: () => number;
}

/** The trainer's memory in the arena. */
export interface StageVectors {
  readonly before?: Pick<Boundary, 'incoming' | 'outgoing'> | undefined;
  readonly after?: Pick<Boundary, 'incoming' | 'outgoing'> | undefined;
  readonly shared: readonly Vector[];
}

export interface SharedCall {
  readonly passage: SharedPassage;
  /** Index of the tensor among the shared ones. */
  readonly tensor: number;
  /** The other stage. */
  readonly peer: number;
}

const SHARED_PASSAGES = {
  weights: { stream: 7, operation: 1104 },
  gradient: { stream: 8, operation: 1105 },
} as const;

export class StageExchange implements Disposable {
  readonly #engine: PipelineEngine;
  readonly #setting: StageSetting;
  readonly #before: Boundary | undefined;
  readonly #after: Boundary | undefined;
  readonly #shared: readonly (Vector & Region)[];
  readonly #communicators = new Map<string, TransportCommunicator>();
  readonly vectors: StageVectors;

  constructor(
    engine: PipelineEngine,
    setting: StageSetting,
    plan: ActivationPlan | undefined,
  ) {
    const { after, before, microBatches, shared } = setting;
    const { rank } = engine.transport;
    this.#engine = engine;
    this.#setting = setting;
    const boundary = (peer: number, shape: MatrixShape | undefined) =>
      shape && new Boundary({ ...engine, peer, shape, microBatches }, plan);
    // The stages of a pipeline are consecutive ranks.
    this.#before = boundary(rank - 1, before);
    this.#after = boundary(rank + 1, after);
    this.#shared = shared.map(({ length }) => engine.arena.allocateVector(length));
    this.vectors = {
      before: this.#before && vectorsOf(this.#before),
      after: this.#after && vectorsOf(this.#after),
      shared: this.#shared,
    };
  }

  /** State that is kept from iteration to iteration. */
  get kept(): readonly Vector[] {
    return [this.#before, this.#after].flatMap((boundary) => boundary?.kept ?? []);
  }

  /** Follows the plan, between two iterations. @returns whether this loses a residual */
  use(plan: ActivationPlan | undefined): boolean {
    const dropped = [this.#before?.use(plan), this.#after?.use(plan)];
    return dropped.includes(true);
  }

  send(call: PassageCall): Promise<PassedBytes> {
    return this.#towards(call).send(call);
  }

  /** @returns ms during which another stage had nothing to send yet */
  async receive(call: PassageCall): Promise<number> {
    const boundary = this.#from(call);
    return await this.#timed(async () => {
      await boundary.receive(call);
      if (call.passage === 'evaluation') return;
      // The next one can arrive while this one is computed.
      const microBatch = call.microBatch + 1;
      const { microBatches } = this.#setting;
      if (microBatch < microBatches) boundary.expect({ ...call, microBatch });
    });
  }

  async sendShared(call: SharedCall): Promise<PassedBytes> {
    const region = this.#regionOf(call);
    // It must be sent before the trainer writes there again.
    await this.#begin(call).send(this.#rankOf(call.peer), region);
    return { dense: region.bytes, payload: region.bytes };
  }

  async receiveShared(call: SharedCall): Promise<number> {
    return await this.#timed(() =>
      this.#begin(call).receive(this.#rankOf(call.peer), this.#regionOf(call)),
    );
  }

  /** Resolves when everything sent has left. */
  async settle(): Promise<void> {
    await this.#before?.settle();
    await this.#after?.settle();
  }

  [Symbol.dispose](): void {
    this.#before?.[Symbol.dispose]();
    this.#after?.[Symbol.dispose]();
    for (const communicator of this.#communicators.values()) {
      communicator[Symbol.dispose]();
    }
  }

  /** Waiting for a first byte is idle; everything else is moving data. */
  async #timed(work: () => Promise<void>): Promise<number> {
    const { clock } = this.#engine;
    clock.begin();
    await work();
    return clock.end().phases.wait;
  }

  #towards({ passage }: PassageCall): Boundary {
    return passage === 'backward' ? this.#before! : this.#after!;
  }

  #from({ passage }: PassageCall): Boundary {
    return passage === 'backward' ? this.#after! : this.#before!;
  }

  #rankOf(stage: number): number {
    return this.#engine.transport.rank + stage - this.#setting.stage;
  }

  #regionOf({ tensor }: SharedCall): Region {
    const { length, offset } = this.#shared[tensor]!;
    return { offset, bytes: 4 * length };
  }

  /** Begins a message. Per pair of ranks and tensor, messages are in order. */
  #begin({ passage, peer, tensor }: SharedCall): TransportCommunicator {
    const key = `${passage} ${tensor} ${peer}`;
    const { operation, stream } = SHARED_PASSAGES[passage];
    let communicator = this.#communicators.get(key);
    if (communicator === undefined) {
      communicator = new TransportCommunicator({ ...this.#engine, stream });
      this.#communicators.set(key, communicator);
    }
    return communicator.begin({ epoch: this.#engine.epoch(), operation, dtype: 1 });
  }
}

const vectorsOf = ({ incoming, outgoing }: Boundary) => ({ incoming, outgoing });
