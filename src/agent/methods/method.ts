/**
 * A compression method: how one bucket's gradient becomes a payload, and how what the
 * collective made of all payloads becomes the averaged gradient. It is written once, for the
 * arena and for GPUs. Adding one: `docs/extending.md`.
 */
import type { z } from 'zod';
import type { PayloadKind } from '../../shared/catalogue/catalogue.ts';
import type { JsonObject } from '../../shared/checks/json.ts';
import type { Schedule } from './policy/schedule.ts';
import type { Region, Vector } from '../memory/arena.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { HalfType, ValueBytes } from '../memory/value-type.ts';
import type { Steps } from '../work/steps.ts';
import type { Work } from '../work/work.ts';

/** A method's request to the other ranks. All ranks ask the same, in the same order. */
export type CommunicationRequest =
  /** Sum over ranks, by the plan's collective. */
  | { readonly operation: 'reduce'; readonly payload: Payload }
  /** All payloads, in rank order. */
  | { readonly operation: 'gather'; readonly payload: Payload }
  /** Root's payload; the other ranks pass the kind they expect, of capacity `data`. */
  | {
      readonly operation: 'broadcast';
      readonly root: number;
      readonly payload: Payload;
    };

export type Communicate = (request: CommunicationRequest) => Promise<Combined>;

/** A tensor's slice of the bucket. */
export interface TensorSlice {
  readonly name: string;
  /** First element, from the start of the bucket. */
  readonly start: number;
  readonly length: number;
  readonly shape: readonly number[];
}

/** `V` is a vector at the gradient's site, as in `Work`. */
export interface CompressorContext<Parameters = unknown, V = Vector> {
  /** Elements of the bucket, N in the papers. */
  readonly length: number;
  readonly tensors: readonly TensorSlice[];
  readonly parameters: Parameters;
  readonly seed: number;
  readonly rank: number;
  readonly world: number;
  /** Index of the bucket: with seed, rank and iteration it seeds random numbers. */
  readonly bucket: number;
  /** Operations on vectors, and the memory for them: a method takes it at its creation. */
  readonly work: Work<V>;
  /** The bucket's residual, `length` elements; given where the method keeps one. */
  readonly residual?: V | undefined;
}

export interface ExchangeStatistics {
  /** Entries kept by this rank, where the method selects. */
  readonly nnzLocal?: number | undefined;
  /** Entries of the reduced result, K, where it was observed. */
  readonly nnzReduced?: number | undefined;
  /** Thresholds that were recomputed, where the method lets them live on. */
  readonly thresholdRefreshes?: number | undefined;
  /** Reads the thresholds as this exchange left them, where the method lets them live on. */
  readonly thresholds?: (() => readonly ThresholdState[]) | undefined;
  /** Similarity of the ranks, where the method was asked to find out. */
  readonly similarity?: Similarity | undefined;
}

/** State of a threshold that lives on: how far it has drifted from the share that it stands for. */
export interface ThresholdState {
  readonly tensor: string;
  readonly threshold: number;
  /** Entries of this exchange that reached it. */
  readonly selected: number;
  /** Entries that reached it when it was found, k. */
  readonly wanted: number;
  /** Iterations since it was found; unknown after a restart. */
  readonly age?: number | undefined;
  /** (τ − τ′)/τ′, of the threshold τ′ that it replaced. */
  readonly change?: number | undefined;
}

/** Measures as `similarity.ts` defines them; absent where there is nothing to compare. */
export interface Similarity {
  readonly residualDistance?: number | undefined;
  readonly hammingDistance?: number | undefined;
  readonly magnitudeShare?: number | undefined;
  readonly rankCorrelation?: number | undefined;
  /** SparCML's ξ, defined in `diagnostics.ts`. */
  readonly selectionDistance?: number | undefined;
  readonly contraction?: number | undefined;
  readonly contractionBound?: number | undefined;
}

/** A method at work on one bucket. Its memory is the work's, and ends with that. */
export interface Compressor<V = Vector> {
  /**
   * Whether `encode` itself throws `NotFiniteInput` for a gradient with a NaN or an
   * infinity, if the work detects it in a pass that it makes anyway (`Work.addFinite`).
   * Default: the caller checks first.
   */
  readonly refusesNotFinite?: boolean | undefined;
  /**
   * Compensate, then select or quantise: reads `gradient`, updates the residual, leaves
   * the payload in the arena, or in the gradient's memory, where it stays valid until
   * the next encode. May use `gradient` as scratch. A pure function of (gradient, state,
   * seeded RNG). Returns the payload or, if it has to wait for a device, steps.
   */
  encode(gradient: V, iteration: number): Payload | Steps<Payload>;
  /**
   * The average over ranks, written over `out`. `out` is the vector that was given to
   * encode, as encode left it: methods that use their local gradient again find it here.
   * What a partial sum leaves out goes back to the residual.
   */
  decode(combined: Combined, out: V, iteration: number): ExchangeStatistics;
  /**
   * Exchanges with a method that talks more than once in an exchange. Default: encode, one reduce
   * (or gather, if the method is not reducible), decode. Work up to the last message is timed as
   * compression, what follows it as decompression.
   */
  exchange?(
    gradient: V,
    iteration: number,
    communicate: Communicate,
  ): Steps<ExchangeStatistics>;
  /**
   * A payload of this method from its bytes. Checks that a compressor with these
   * parameters and this length could have produced `data`, as far as decoding depends on
   * it. Whatever passes can be decoded; for any bytes, nothing outside them is read and
   * nothing is allocated in the arena. It must be decoded with the same iteration number.
   * @throws GradwireError `PAYLOAD_INVALID`
   */
  parse(data: Region, iteration: number): Payload;
  /** State that the method keeps from one exchange to the next beside its residual, if any. */
  readonly state?: KeptState | undefined;
}

/** State to be saved, and restored in another process. */
export interface KeptState {
  save(): Steps<Uint8Array>;
  /** @throws GradwireError `METHOD_STATE_INVALID` */
  restore(state: Uint8Array): void;
}

/** A bucket as a method's messages are foreseen for it. */
export interface ExpectedBucket {
  readonly length: number;
  readonly tensors: readonly TensorSlice[];
  readonly world: number;
}

/** A message that a rank is expected to send in an exchange, before any gradient is known. */
export interface ExpectedMessage {
  readonly operation: CommunicationRequest['operation'];
  readonly kind: PayloadKind;
  /** Elements of the vector in the payload; a sparse payload has `entries` of them. */
  readonly length: number;
  readonly bytes: number;
  /** k of a sparse payload. */
  readonly entries?: number | undefined;
  /** Bytes of an element of a dense payload; default: those of an f32. */
  readonly valueBytes?: ValueBytes | undefined;
  /** Whether the size depends on the gradient; `expected-messages.ts` says what is assumed. */
  readonly estimated?: true | undefined;
}

/** Terms that a residual is a sum of. */
export type Residual = 'none' | 'gradient' | 'velocity';

/** Kind of payload that travels, and whether a collective may sum it. */
export type Carriage = Pick<MethodDefinition, 'payload' | 'reducible'>;

/** Intervals of replicas that drift, in iterations; 0: never. */
export interface DriftSchedule {
  /** Iterations between two records of how far the replicas are apart. */
  readonly measureEvery: number;
  /** Iterations between two averages of their weights. */
  readonly resyncEvery: number;
}

/**
 * Advice on how much to compress a layer, by the multiply-adds per element of its gradient,
 * counted for one sample's forward pass.
 */
export interface LayerGuidance {
  /** The parameter for the share of the elements that is sent. */
  readonly share: string;
  /** Rates, ascending by their upper bounds of multiply-adds per element; the last is infinite. */
  readonly rates: readonly { readonly upTo: number; readonly rate: number }[];
  /**
   * A rank's work per step for which the rates apply unchanged: samples, or predictions for
   * models of tokens. With more, a rank compresses less, in proportion.
   */
  readonly samples: number;
  readonly predictions: number;
}

/** A parameter that does nothing beside another one. */
export interface IdleParameter<Parameters> {
  readonly parameter: string;
  /** The parameter that makes it idle, with these values. */
  readonly beside: string;
  when(parameters: Parameters): boolean;
  /** Setting that gives the parameter a meaning, as `coding=elias`. */
  readonly instead: string;
}

export interface MethodDefinition<Schema extends z.ZodObject = z.ZodObject> {
  readonly id: string;
  readonly title: string;
  /** One sentence: what is sent. */
  readonly summary: string;
  /** Paper and section. */
  readonly source: string;
  /** One or two sentences: networks, models and runs for which it pays, and where it does not. */
  readonly suits?: string | undefined;
  /**
   * Text that a label shows after the id, such as "1 %", in a few characters; if missing or empty,
   * the id alone. `labelOf` is the only code that makes labels.
   */
  label?(parameters: z.infer<Schema>): string;
  /** A strict object; every field described and with a default. */
  readonly parameters: Schema;
  /** Parameters that do nothing beside others: `refuseIdle` refuses both at once. */
  readonly idle?: readonly IdleParameter<z.infer<Schema>>[];
  /**
   * Whether every gradient is sent as its own f32 values. Other methods are compared with
   * this one, and small tensors are sent by it.
   */
  readonly uncompressed?: true | undefined;
  /** Parameters with which the app suggests this method for a run without compression. */
  readonly invitation?: Partial<z.infer<Schema>> | undefined;
  /** Advice of its source on how much to compress each layer (`gradwire plan --rates`). */
  readonly ratesByLayer?: LayerGuidance | undefined;
  /** Warm-ups and ramps among its parameters. */
  readonly schedules?: readonly Schedule[] | undefined;
  /**
   * Name of the parameter for the fewest elements of a tensor to compress: smaller tensors
   * travel dense, in separate buckets.
   */
  readonly apartBelow?: string | undefined;
  /**
   * Whether all tensors under these parameters are one bucket, whatever `bucketBytes` says:
   * for a method that makes something of the whole model. Default: no.
   */
  inOneBucket?(parameters: z.infer<Schema>): boolean;
  readonly payload: PayloadKind;
  /** Type of the elements of dense payloads, where it is not f32. */
  readonly values?: HalfType | undefined;
  /**
   * The most by which a payload's expected squared error, relative to the squared norm of what is compressed, exceeds
   * 0, where the source proves it of vectors of this length. Undefined: it proves none under
   * these parameters. Only of methods that are unbiased, each rank with noise of its own: whoever
   * compares divides it by the number of ranks.
   */
  errorBound?(parameters: z.infer<Schema>, length: number): number | undefined;
  /** Whether payloads can be summed by a collective; else they are gathered. */
  readonly reducible: boolean;
  /**
   * Says what travels under these parameters; only for a method whose `payload` and `reducible`
   * depend on them. Call `carriageOf`, which works for every method.
   */
  carriage?(parameters: z.infer<Schema>): Carriage;
  /**
   * The messages of an exchange of this bucket, in their order, once warm-up and ramp have
   * ended. Pure; exact, unless a message says `estimated`. `auto`, `gradwire plan` and what
   * they print rely on it.
   */
  messages(
    parameters: z.infer<Schema>,
    bucket: ExpectedBucket,
  ): readonly ExpectedMessage[];
  /**
   * Terms that the residual is a sum of, if one is kept: it survives a switch to a method whose
   * residual is a sum of the same. A method knows nothing of the learning rate: where a plan keeps
   * updates, the engine rescales the residual as the rate changes.
   */
  readonly residual: Residual;
  /**
   * Name of the boolean parameter that asks for the residual, where it is optional. Call
   * `residualOf`, which works for every method.
   */
  readonly residualIf?: string | undefined;
  /** Vectors as long as a bucket that it keeps beside the residual; default: 0. */
  readonly keptVectors?: number | undefined;
  readonly replicas: 'identical' | 'drift';
  /** Intervals at which the training loop measures and averages replicas that drift. */
  drift?(parameters: z.infer<Schema>): DriftSchedule;
  /**
   * Facts that ranks agree on during an exchange, worded for an error message to follow "needs".
   * A method with such facts cannot be used with servers, to which a rank pushes its gradient on
   * its own. Default: none.
   */
  readonly agreesOn?: string | undefined;
  /**
   * Name of the parameter for momentum, of a method that applies momentum itself. Its default is
   * the momentum of the optimiser, which then takes steps without momentum.
   */
  readonly replacesMomentum?: string | undefined;
  /**
   * Whether an exchange yields a gradient for only a part of the weights, and no residual keeps
   * the rest. Such a method is refused beside weight decay: decay shrinks all weights in every
   * step, so its penalty would be larger than its setting says.
   */
  readonly movesPart?: true | undefined;
  /**
   * Whether state besides the residual, saved with the parameters `before`, is still valid with
   * `after`, for the same tensors. Omit it if there is nothing to save.
   */
  stateHolds?(before: z.infer<Schema>, after: z.infer<Schema>): boolean;
  /** @throws BeyondDevice where a device cannot hold what the method needs */
  create<V>(context: CompressorContext<z.infer<Schema>, V>): Compressor<V>;
}

/** A method with these parameters, which its schema has validated, in a few words. */
export function labelOf(method: MethodDefinition, parameters: JsonObject): string {
  return `${method.id} ${method.label?.(parameters) ?? ''}`.trim();
}

/** Terms that the residual of a method with these parameters is a sum of, if it keeps one. */
export function residualOf(
  { residual, residualIf }: Pick<MethodDefinition, 'residual' | 'residualIf'>,
  parameters: JsonObject,
): Residual {
  return residualIf === undefined || parameters[residualIf] === true
    ? residual
    : 'none';
}

/** Says what travels under a method with these parameters, which its schema has validated. */
export function carriageOf(method: MethodDefinition, parameters: JsonObject): Carriage {
  return method.carriage?.(parameters) ?? method;
}
