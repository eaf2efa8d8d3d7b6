/** Plans that between them have every method, and collectives that keep something. */
export type Exchange = Readonly<Record<string, unknown>>;

/** Every method, so that its state has something to say, and another collective for it. */
export const METHOD_CASES: readonly {
  readonly exchange: Exchange;
  readonly collective?: string;
}[] = [
  { exchange: { method: 'none' }, collective: 'recursive-doubling' },
  { exchange: { method: 'none', quantizeSums: { bits: 4 } } },
  { exchange: { method: 'none', quantizeSums: { format: 'e5m2' } } },
  { exchange: { method: 'bf16' }, collective: 'rabenseifner' },
  { exchange: { method: 'fp16', rounding: 'stochastic' }, collective: 'ring' },
  {
    exchange: { method: 'topk', ratio: 0.05 },
    collective: 'ssar-recursive-doubling',
  },
  { exchange: { method: 'nonzero' }, collective: 'dsar-split-allgather' },
  { exchange: { method: 'blockcd', k: 7 }, collective: 'sparse-allgather' },
  { exchange: { method: 'topk', k: 3, bucket: 64, quantize: { bits: 3 } } },
  { exchange: { method: 'topk', ratio: 0.05, collective: 'ok-topk' } },
  {
    exchange: { method: 'topk', ratio: 0.05, diagnosticsEvery: 2 },
    collective: 'sparse-allgather',
  },
  {
    exchange: { method: 'topk', ratio: 0.05, collective: 'parameter-server' },
    collective: 'sparse-ring',
  },
  {
    exchange: { method: 'randomk', ratio: 0.1, rampIterations: 9 },
    collective: 'ring',
  },
  {
    exchange: { method: 'threshold', threshold: 12 },
    collective: 'dsar-split-allgather',
  },
  {
    exchange: { method: 'gaussiank', ratio: 0.05, rampIterations: 9 },
    collective: 'sparse-ring',
  },
  {
    exchange: { method: 'dct', ratio: 0.05, lifeSpan: 7, band: 100 },
    collective: 'sparse-allgather',
  },
  { exchange: { method: 'dgc', ratio: 0.05 }, collective: 'ssar-recursive-doubling' },
  {
    exchange: { method: 'scalecom', ratio: 0.05, warmupIterations: 2 },
    collective: 'rabenseifner',
  },
  { exchange: { method: 'powersgd', rank: 2 }, collective: 'ring' },
  { exchange: { method: 'qsgd', minElements: 100 } },
  { exchange: { method: 'fp8', rounding: 'stochastic', minElements: 0 } },
  { exchange: { method: 'qsgd', minElements: 100, errorFeedback: true } },
  { exchange: { method: 'fp8', minElements: 100, errorFeedback: true } },
  { exchange: { method: 'terngrad', minElements: 0 } },
  { exchange: { method: 'qgd', minElements: 100 } },
  { exchange: { method: 'onebit', minElements: 100 } },
  { exchange: { method: 'onebit', minElements: 100, granularity: 'column' } },
  { exchange: { method: 'a2sgd' }, collective: 'recursive-doubling' },
  { exchange: { method: 'a2sgd', mode: 'allgather' } },
];
