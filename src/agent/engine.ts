/**
 * `gradwire/engine`: the engine's public parts, for programs that compress vectors
 * without the app, and for the CLI. An `Arena` holds vectors; `Kernels` work on them;
 * a method from `compressors` makes a `Compressor` for one vector, whose `encode` leaves
 * a payload in the arena and whose `decode` writes the average over ranks back. `LoneRank`
 * does all of it for one rank. How to use it, and its errors: docs/engine.md.
 */
export {
  describeMethods,
  findMethod,
  methods as compressors,
  registerMethod,
  validateParameters,
} from './methods/registry.ts';
export { refuseIdle } from './methods/idle-parameters.ts';
export type { Combined, Payload } from './memory/payload.ts';
export {
  carriageOf,
  type Carriage,
  type Communicate,
  type CommunicationRequest,
  type Compressor,
  type CompressorContext,
  type ExchangeStatistics,
  type ExpectedBucket,
  type ExpectedMessage,
  type IdleParameter,
  type KeptState,
  type MethodDefinition,
  type TensorSlice,
} from './methods/method.ts';
export { ArenaWork } from './work/arena/arena-work.ts';
export type {
  Entries,
  EntryRoom,
  Leave,
  Selector,
  StretchSelector,
  ThresholdSearch,
} from './work/selection.ts';
export { run, wait, type Answer, type Steps } from './work/steps.ts';
export type { Mirror, Work } from './work/work.ts';
export { Arena, vectorOf, type Region, type Vector } from './memory/arena.ts';
export { sparseBytes, type SparseStream } from './memory/entries.ts';
export type { Kernels, Moments, TwoMeans } from './kernels/kernels.ts';
export type { LowRankKernels, Matrix } from './kernels/low-rank.ts';
export {
  closeStream,
  type IndexList,
  type SparsificationKernels,
  type StreamRoom,
} from './kernels/sparsification.ts';
export { CounterRandom, type RandomStream } from './kernels/random.ts';
export { referenceKernels } from './kernels/reference/reference-kernels.ts';
export {
  loadWasmKernels,
  startWasmKernels,
  type LoadedKernels,
  type WasmKernelOptions,
} from './kernels/wasm/load.ts';
export { wasmKernels } from './kernels/wasm/wasm-kernels.ts';
export {
  allreduceFiles,
  type AllreduceReport,
  type AllreduceTask,
} from './allreduce/allreduce-files.ts';
export { makeCatalogue, syntheticProfiles } from './launch/catalogue.ts';
export { forecastSpec } from './forecast/forecast-spec.ts';
export type { Candidate } from '../shared/forecast/candidate.ts';
export {
  inspectSpec,
  specMemory,
  stepMemory,
  type RankMemory,
} from './forecast/spec-memory.ts';
export { layerRates, type LayerRate, type LayerRates } from './forecast/layer-rates.ts';
export { measureNetwork } from './probe/measure-network.ts';
export {
  GroupStream,
  type AllreduceOptions,
  type QuantizationOptions,
} from './allreduce/group-stream.ts';
export {
  RankGroup,
  RankSeat,
  type JoinOptions,
  type StreamOptions,
} from './allreduce/rank-group.ts';
export type { SavedMemory } from './collectives/collective-memory.ts';
export type {
  CollectiveDefinition,
  CollectiveSettings,
  Communicator,
  ExchangeShape,
  Quantization,
} from './collectives/collective.ts';
export {
  collectives,
  describeCollectives,
  registerCollective,
} from './collectives/registry.ts';
export type { RankAddress } from '../shared/protocol/supervisor.ts';
export type { ReduceOperation, ReductionKernels } from './kernels/reduction.ts';
export { VALUE_TYPES, type ValueBytes, type ValueType } from './memory/value-type.ts';
export {
  BACKENDS,
  openBackend,
  openCpuBackend,
  type Backend,
  type BackendName,
  type CpuBackendName,
} from './codec/backend.ts';
export { LoneRank, type Compressed, type LoneRankOptions } from './codec/lone-rank.ts';
export { packPayload, unpackPayload, type PayloadFile } from './codec/payload-file.ts';
export type { Provenance } from './codec/provenance.ts';
export {
  packRankState,
  unpackRankState,
  type RankState,
  type StateFile,
} from './codec/state-file.ts';
export { GradwireError, formatError } from '../shared/errors/errors.ts';
