/**
 * One rank that compresses without peers: a vector becomes the bytes that this rank would
 * send, and a rank's bytes become its contribution to the average. For a method with
 * several rounds these are the bytes of the whole exchange, as the leader with P = 1.
 * Residual and state are kept between calls, which run one after the other, in order: they
 * share the memory of the vector and of the method.
 *
 * Cost: a copy of the vector into and out of the arena in addition to the method's.
 */
import { Turns } from '../../shared/async/turns.ts';
import { checkedOptions } from '../../shared/checks/checked-options.ts';
import { GradwireError, inputError } from '../../shared/errors/errors.ts';
import type { JsonObject } from '../../shared/checks/json.ts';
import { combinedAlone, type Payload } from '../memory/payload.ts';
import type { GradientBucket } from '../methods/bucket-compressor.ts';
import {
  residualOf,
  type ExchangeStatistics,
  type MethodDefinition,
} from '../methods/method.ts';
import { none } from '../methods/none.ts';
import { payloadInvalid } from '../methods/payload-check.ts';
import { NotFiniteInput } from '../work/not-finite-input.ts';
import { inIterations } from '../methods/policy/passes.ts';
import { travelsApart } from '../methods/policy/small-tensors.ts';
import { findMethod, validateParameters } from '../methods/registry.ts';
import type { Vector } from '../memory/arena.ts';
import { openCpuBackend, type Backend, type CpuBackendName } from './backend.ts';
import {
  elementsOf,
  iterationSchema,
  requireVector,
  type Provenance,
} from './provenance.ts';
import type { RankState, StateFile } from './state-file.ts';
import { kindOf } from './typed-array.ts';

export interface LoneRankOptions {
  readonly method: string;
  /** Parameters of the method; missing ones have their defaults. */
  readonly parameters?: JsonObject | undefined;
  /** The shape of the vectors' tensor; its product is n. */
  readonly shape: readonly number[];
  /** Integers in [0, 2³²); seed 1 and rank 0 unless given. */
  readonly seed?: number | undefined;
  readonly rank?: number | undefined;
  /** An open backend remains its opener's to close; default: wasm. */
  readonly backend?: CpuBackendName | Backend | undefined;
}

export interface Compressed {
  /** Exactly the bytes that would be sent, in separate memory. */
  readonly payload: Uint8Array;
  readonly kind: Payload['kind'];
  /** Entries kept, if the method counts them. */
  readonly nnz: number | undefined;
  /** Time of the method's encode alone. */
  readonly milliseconds: number;
}

export class LoneRank implements Disposable {
  readonly #options: LoneRankOptions;
  readonly #method: MethodDefinition;
  readonly #parameters: JsonObject;
  readonly #backend: Backend;
  readonly #compressor: GradientBucket;
  readonly #gradient: Vector;
  readonly #residual: Vector | undefined;
  readonly #turns = new Turns();
  /** Calls that have not ended. */
  #calls = 0;
  #disposed = false;
  #released = false;

  /**
   * @throws GradwireError `OPTION_INVALID`, `BACKEND_UNKNOWN`, `METHOD_UNKNOWN`, `METHOD_PARAMETER_UNKNOWN_KEY`,
   * `METHOD_PARAMETER_INVALID`, `VECTOR_TOO_LARGE`, `KERNELS_MISSING`,
   * `BACKEND_UNAVAILABLE`, `ARENA_EXHAUSTED`
   */
  constructor(options: LoneRankOptions) {
    requireVector(options, 'LoneRank');
    const { shape, seed = 1, rank = 0, backend = 'wasm' } = options;
    const method = findMethod(options.method);
    const length = elementsOf(shape);
    // What the caller changes afterwards is not ours.
    this.#options = { ...options, shape: [...shape] };
    this.#method = method;
    const given = options.parameters ?? {};
    const parameters = inIterations(
      validateParameters(method, given),
      given,
      undefined,
      method.schedules,
    );
    this.#parameters = parameters;
    const apart = travelsApart(method, parameters, length);
    const applied = apart ? none : method;
    const isOpen = typeof backend === 'object' && typeof backend?.open === 'function';
    this.#backend = isOpen ? backend : openCpuBackend(backend as CpuBackendName);
    const { arena, kernels } = this.#backend;
    this.#gradient = { offset: arena.allocateVector(length).offset, length };
    try {
      if (residualOf(applied, parameters) !== 'none') {
        this.#residual = { offset: arena.allocateVector(length).offset, length };
        kernels.fill(this.#residual, 0);
      }
      const context = {
        length,
        tensors: [{ name: 'x', start: 0, length, shape }],
        parameters: apart ? {} : parameters,
        seed,
        rank,
        world: 1,
        bucket: 0,
        residual: this.#residual,
      };
      this.#compressor = this.#backend.open(applied, context, this.#gradient);
    } catch (error) {
      // An open backend goes on without this rank.
      this.#releaseVectors();
      throw error;
    }
  }

  /**
   * The provenance of this rank's output at an iteration.
   * @throws GradwireError `OPTION_INVALID` for an iteration outside [0, 2³²)
   */
  provenance(iteration: number): Provenance {
    requireIteration(iteration);
    const { shape, seed = 1, rank = 0 } = this.#options;
    return {
      method: this.#method.id,
      parameters: this.#parameters,
      n: this.#gradient.length,
      shape: [...shape],
      seed,
      rank,
      iteration,
    };
  }

  /**
   * @param values n finite elements, not modified; read when the calls before have ended
   * @throws GradwireError `OPTION_INVALID`, `RANK_DISPOSED`, `VECTOR_LENGTH_INVALID`,
   * `VECTOR_NOT_FINITE`, `COMPRESSION_OVERFLOW`: then this rank's state is no longer usable
   */
  compress(values: Float32Array, iteration: number): Promise<Compressed> {
    return this.#inTurn(() => this.#compress(values, iteration));
  }

  async #compress(values: Float32Array, iteration: number): Promise<Compressed> {
    this.#require(iteration);
    this.#put(values);
    const { arena } = this.#backend;
    const start = performance.now();
    const sent = await this.#encode(iteration);
    const milliseconds = performance.now() - start;
    const payload = arena.u8(sent.data.offset, sent.data.bytes).slice();
    // As in an exchange, a decode follows the encode, so the state is the same.
    const { nnzLocal } = await this.#decodeOwn(sent, iteration);
    const nnz = nnzLocal ?? (sent.kind === 'sparse' ? sent.count : undefined);
    return { payload, kind: sent.kind, nnz, milliseconds };
  }

  /**
   * The contribution of the rank that sent the payload, n elements. Methods whose replicas
   * drift need that rank's `gradient`, because part of it stayed there.
   * @throws GradwireError `OPTION_INVALID`, `RANK_DISPOSED`, `PAYLOAD_INVALID`, `PAYLOAD_NEEDS_GRADIENT`,
   * `VECTOR_LENGTH_INVALID`, `VECTOR_NOT_FINITE`
   */
  decompress(
    payload: Uint8Array,
    iteration: number,
    gradient?: Float32Array,
  ): Promise<Float32Array> {
    return this.#inTurn(() => this.#decompress(payload, iteration, gradient));
  }

  async #decompress(
    payload: Uint8Array,
    iteration: number,
    gradient: Float32Array | undefined,
  ): Promise<Float32Array> {
    this.#require(iteration);
    if (kindOf(payload) !== 'Uint8Array') throw wrongKind('payload', 'a Uint8Array');
    const { arena } = this.#backend;
    if (this.#method.replicas === 'drift') {
      if (gradient === undefined) throw this.#needsGradient();
      await this.#compress(gradient, iteration);
      this.#put(gradient);
    }
    const region = arena.allocate(payload.length);
    try {
      arena.u8(region.offset, payload.length).set(payload);
      const data = { offset: region.offset, bytes: payload.length };
      await this.#decode(this.#compressor.parse(data, iteration), iteration);
      this.#requireFinite();
      return arena.f32(this.#gradient).slice();
    } catch (error) {
      // The bytes come from the caller, not from another rank.
      if (error instanceof GradwireError && error.code === 'PAYLOAD_INVALID') {
        throw new GradwireError({ ...error.toData(), kind: 'input' }, { cause: error });
      }
      throw error;
    } finally {
      arena.release(region);
    }
  }

  /** @throws GradwireError `RANK_DISPOSED` */
  save(): Promise<RankState> {
    return this.#inTurn(async () => {
      this.#require();
      const { arena } = this.#backend;
      return {
        residual:
          this.#residual === undefined
            ? new Float32Array(0)
            : arena.f32(this.#residual).slice(),
        method: await this.#compressor.save(),
      };
    });
  }

  /**
   * Resumes from a state of this method, length, seed and rank. Parameters may have
   * changed if the method's state does not depend on them.
   * @throws GradwireError `STATE_MISMATCH`, `RANK_DISPOSED`, `OPTION_INVALID` while a call is under way,
   * before anything is changed
   */
  restore({ provenance, state }: StateFile): void {
    this.#require();
    if (this.#calls > 0) {
      throw inputError('OPTION_INVALID', 'LoneRank.restore: a call is under way', {
        next: 'Await it first.',
      });
    }
    const own = this.provenance(0);
    for (const key of ['method', 'n', 'seed', 'rank'] as const) {
      if (provenance[key] !== own[key]) {
        throw mismatch(`its ${key} is ${provenance[key]}, not ${own[key]}`);
      }
    }
    if (String(provenance.shape) !== String(own.shape)) {
      throw mismatch(`its shape is ${provenance.shape.join('×')}`);
    }
    const residual = this.#residual;
    if (state.residual.length !== (residual?.length ?? 0)) {
      throw mismatch(`it has a residual of ${state.residual.length} elements`);
    }
    try {
      this.#compressor.restore(state.method);
    } catch (error) {
      if (error instanceof GradwireError && error.code === 'METHOD_STATE_INVALID') {
        throw mismatch(error.message);
      }
      throw error;
    }
    if (residual !== undefined) this.#backend.arena.f32(residual).set(state.residual);
  }

  /** Gives its memory back, at once or when the call under way has ended. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#releaseIfIdle();
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#calls++;
    try {
      return await this.#turns.take(work);
    } finally {
      this.#calls--;
      if (this.#disposed) this.#releaseIfIdle();
    }
  }

  #releaseIfIdle(): void {
    if (this.#calls > 0 || this.#released) return;
    this.#released = true;
    this.#compressor[Symbol.dispose]();
    this.#releaseVectors();
  }

  #releaseVectors(): void {
    for (const vector of [this.#gradient, this.#residual]) {
      if (vector === undefined) continue;
      const { length, offset } = vector;
      this.#backend.arena.release({ offset, bytes: 4 * length });
    }
  }

  async #decode(payload: Payload, iteration: number): Promise<ExchangeStatistics> {
    return await this.#compressor.decode(combinedAlone(payload), iteration);
  }

  async #encode(iteration: number): Promise<Payload> {
    try {
      return await this.#compressor.encode(iteration);
    } catch (error) {
      throw error instanceof NotFiniteInput ? overflow(error) : error;
    }
  }

  /** Decodes our own payload, in which only an overflow can be wrong. */
  async #decodeOwn(payload: Payload, iteration: number): Promise<ExchangeStatistics> {
    const { kernels } = this.#backend;
    let statistics: ExchangeStatistics;
    try {
      statistics = await this.#decode(payload, iteration);
    } catch (error) {
      const invalid =
        error instanceof GradwireError && error.code === 'PAYLOAD_INVALID';
      throw invalid ? overflow(error) : error;
    }
    const residual = this.#residual;
    const kept = residual === undefined ? -1 : kernels.firstNonFinite(residual);
    if (kept >= 0 || kernels.firstNonFinite(this.#gradient) >= 0) throw overflow();
    return statistics;
  }

  /** Refuses work after the disposal, and iterations that no file could state. */
  #require(iteration = 0): void {
    requireIteration(iteration);
    if (!this.#disposed) return;
    throw inputError('RANK_DISPOSED', 'this LoneRank has been disposed of', {
      next: 'Make another one, or dispose of it later.',
    });
  }

  #put(values: Float32Array): void {
    if (kindOf(values) !== 'Float32Array') throw wrongKind('vector', 'a Float32Array');
    const { arena, kernels } = this.#backend;
    const { length } = this.#gradient;
    if (values.length !== length) {
      throw inputError(
        'VECTOR_LENGTH_INVALID',
        `the vector has ${values.length} elements, not ${length}`,
        { next: 'Give vectors of the declared length.' },
      );
    }
    arena.f32(this.#gradient).set(values);
    const index = kernels.firstNonFinite(this.#gradient);
    if (index < 0) return;
    throw inputError('VECTOR_NOT_FINITE', `element ${index} is ${values[index]}`, {
      next: 'Only finite values can be compressed. Check what computed them.',
    });
  }

  /** Refuses a decoded vector that no rank could have sent: each checks its vector first. */
  #requireFinite(): void {
    const { arena, kernels } = this.#backend;
    const index = kernels.firstNonFinite(this.#gradient);
    if (index < 0) return;
    const value = arena.f32(this.#gradient)[index];
    const { id } = this.#method;
    throw payloadInvalid(id, `element ${index} of its vector is ${value}`);
  }

  #needsGradient(): GradwireError {
    const { id } = this.#method;
    return inputError(
      'PAYLOAD_NEEDS_GRADIENT',
      `a payload of ${id} carries no per-element values: the rest of the ` +
        'gradient stays on its rank',
      { next: 'Also give the vector that was compressed (--gradient FILE).' },
    );
  }
}

function requireIteration(iteration: number): void {
  const isWord =
    Number.isInteger(iteration) && iteration >= 0 && iteration <= 0xffffffff;
  if (!isWord) checkedOptions(iterationSchema, { iteration }, 'LoneRank');
}

const wrongKind = (what: string, wanted: string): GradwireError =>
  inputError('OPTION_INVALID', `LoneRank: the ${what} is not ${wanted}`, {
    next: `Give ${wanted}.`,
  });

function overflow(cause?: unknown): GradwireError {
  const error = inputError(
    'COMPRESSION_OVERFLOW',
    'the vector plus the residual of earlier ones is outside the range of f32',
    {
      next: 'Scale the vectors down. The state file was left as it was before this vector.',
    },
  );
  error.cause = cause;
  return error;
}

function mismatch(what: string): GradwireError {
  return inputError('STATE_MISMATCH', `this state does not match: ${what}`, {
    next: 'Continue with the same settings, or give a new file to start over.',
  });
}
