/**
 * The boundary between this stage and one of its neighbours: matrices that pass forward, and
 * their gradients backward. Every micro-batch has its own payload, so that one can be in
 * transit while the next is being computed.
 */
import type { ActivationPlan } from '../../shared/plan/activation-plan.ts';
import { failure } from '../../shared/errors/errors.ts';
import type { MatrixShape, PassedBytes, Passage } from './stage-setting.ts';
import { TransportCommunicator } from '../collectives/communicator.ts';
import type { Region, Vector } from '../memory/arena.ts';
import {
  elements,
  type ActivationCodec,
  type DirectedCodec,
} from './activation-codec.ts';
import { openCodec } from './activation-codecs.ts';
import type { PipelineEngine } from './stage-exchange.ts';

/** Streams and codes of messages; neither is ever renumbered. */
const PASSAGES: Readonly<Record<Passage, { stream: number; operation: number }>> = {
  forward: { stream: 4, operation: 1101 },
  backward: { stream: 5, operation: 1102 },
  evaluation: { stream: 6, operation: 1103 },
};

export interface BoundaryOptions extends PipelineEngine {
  /** The rank on the other side. */
  readonly peer: number;
  readonly shape: MatrixShape;
  readonly microBatches: number;
}

export interface PassageCall {
  readonly passage: Passage;
  readonly microBatch: number;
  readonly iteration: number;
}

interface Message {
  readonly payload: Region;
  /** A pending receive or send. */
  pending: Promise<void> | undefined;
}

export class Boundary implements Disposable {
  readonly #options: BoundaryOptions;
  /** The trainer's memory for outgoing and incoming matrices. */
  readonly outgoing: Vector;
  readonly incoming: Vector;
  readonly #communicators = new Map<Passage, TransportCommunicator>();
  readonly #messages = new Map<string, Message>();
  #plan: ActivationPlan | undefined;
  #codec: ActivationCodec;

  constructor(options: BoundaryOptions, plan: ActivationPlan | undefined) {
    const { arena, shape } = options;
    this.#options = options;
    this.outgoing = arena.allocateVector(elements(shape));
    this.incoming = arena.allocateVector(elements(shape));
    this.#plan = plan;
    this.#codec = openCodec(plan, options);
  }

  /** State that is kept from iteration to iteration. */
  get kept(): readonly Vector[] {
    return this.#codec.kept;
  }

  /**
   * Follows the plan, between two iterations.
   * @returns whether this loses a residual
   */
  use(plan: ActivationPlan | undefined): boolean {
    const { method, sparsity } = plan ?? {};
    const now = this.#plan;
    if (method === now?.method && sparsity === now?.sparsity) return false;
    const drops = this.#codec.kept.length > 0;
    this.#plan = plan;
    this.#codec[Symbol.dispose]();
    this.#codec = openCodec(plan, this.#options);
    for (const { payload } of this.#messages.values()) {
      this.#options.arena.release(payload);
    }
    this.#messages.clear();
    return drops;
  }

  /**
   * Sends what the trainer has written; resolves when it may write again.
   * @throws GradwireError `ACTIVATION_NOT_FINITE`, the transport's errors
   */
  async send(call: PassageCall): Promise<PassedBytes> {
    const { peer } = this.#options;
    const codec = this.#codecOf(call.passage);
    const message = this.#message('send', call, codec.payloadBytes);
    await message.pending;
    // If test samples are sent whole, a NaN loss is reported as such.
    const isSelected = call.passage !== 'evaluation' || this.#plan !== undefined;
    if (isSelected) this.#requireFinite(call);
    codec.encode(this.outgoing, message.payload, call);
    const region = { offset: message.payload.offset, bytes: codec.payloadBytes };
    message.pending = this.#begin(call).send(peer, region);
    return { dense: 4 * this.outgoing.length, payload: codec.payloadBytes };
  }

  /** Posts a receive before the message is needed. */
  expect(call: PassageCall): void {
    const codec = this.#codecOf(call.passage);
    const message = this.#message('receive', call, codec.payloadBytes);
    if (message.pending !== undefined) return;
    const region = { offset: message.payload.offset, bytes: codec.payloadBytes };
    message.pending = this.#begin(call).receive(this.#options.peer, region);
  }

  /** Receives into `incoming`, valid until the next call. */
  async receive(call: PassageCall): Promise<void> {
    this.expect(call);
    const codec = this.#codecOf(call.passage);
    const message = this.#message('receive', call, codec.payloadBytes);
    await message.pending;
    message.pending = undefined;
    codec.decode(message.payload, this.incoming, call);
  }

  /** Resolves when everything sent has left. */
  async settle(): Promise<void> {
    for (const message of this.#messages.values()) await message.pending;
  }

  [Symbol.dispose](): void {
    this.#codec[Symbol.dispose]();
    for (const communicator of this.#communicators.values()) {
      communicator[Symbol.dispose]();
    }
  }

  #codecOf(passage: Passage): DirectedCodec {
    // Evaluation uses the network that is trained, with the same units left out.
    return this.#codec[passage === 'backward' ? 'backward' : 'forward'];
  }

  #message(kind: 'send' | 'receive', call: PassageCall, bytes: number): Message {
    const key = `${kind} ${call.passage} ${call.microBatch}`;
    let message = this.#messages.get(key);
    if (message === undefined) {
      const payload = this.#options.arena.allocate(bytes);
      message = { payload, pending: undefined };
      this.#messages.set(key, message);
    }
    return message;
  }

  #begin({ passage }: PassageCall): TransportCommunicator {
    const { epoch } = this.#options;
    const { operation, stream } = PASSAGES[passage];
    let communicator = this.#communicators.get(passage);
    if (communicator === undefined) {
      communicator = new TransportCommunicator({ ...this.#options, stream });
      this.#communicators.set(passage, communicator);
    }
    return communicator.begin({ epoch: epoch(), operation, dtype: 1 });
  }

  /** A selection would hide values that are not numbers. */
  #requireFinite({ iteration, microBatch, passage }: PassageCall): void {
    const { arena, kernels, transport } = this.#options;
    const at = kernels.firstNonFinite(this.outgoing);
    if (at < 0) return;
    const what =
      passage === 'backward' ? 'the gradient of an activation' : 'an activation';
    throw failure(
      'ACTIVATION_NOT_FINITE',
      `${what} is ${arena.f32(this.outgoing)[at]!} in iteration ${iteration}, ` +
        `micro-batch ${microBatch}`,
      {
        place: `rank ${transport.rank}`,
        rank: transport.rank,
        next: 'Lower the learning rate, or check the data.',
      },
    );
  }
}
