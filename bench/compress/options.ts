/** Options from the command line, checked. */
import { parseArgs } from 'node:util';
import { BACKENDS, type BackendName } from '../../src/agent/codec/backend.ts';
import { inputError } from '../../src/shared/errors/errors.ts';
import { parseLength } from '../vector-length.ts';
import { CASES, type BenchCase } from './cases.ts';
import { VECTORS, type VectorName } from './vectors.ts';

export interface BenchOptions {
  /** Elements of the vectors. */
  readonly lengths: readonly number[];
  readonly cases: readonly BenchCase[];
  readonly vectors: readonly VectorName[];
  readonly backend: BackendName;
  readonly peers: boolean;
  readonly json: boolean;
}

/** @throws GradwireError `BENCH_OPTION_INVALID` */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      n: { type: 'string', default: '1M,25M' },
      methods: { type: 'string', default: '' },
      vectors: { type: 'string', default: VECTORS.join(',') },
      backend: { type: 'string', default: 'wasm' },
      peers: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const known = [...new Set(CASES.map(({ method }) => method))];
  const methods = list(values.methods).map((id) => chosen('method', id, known));
  return {
    lengths: list(values.n).map(parseLength),
    cases: CASES.filter(
      ({ method }) => methods.length === 0 || methods.includes(method),
    ),
    vectors: list(values.vectors).map((name) => chosen('vector', name, VECTORS)),
    backend: chosen('backend', values.backend, BACKENDS),
    peers: values.peers,
    json: values.json,
  };
}

function list(text: string): readonly string[] {
  return text.split(',').filter((part) => part !== '');
}

function chosen<T extends string>(what: string, value: string, all: readonly T[]): T {
  const found = all.find((each) => each === value);
  if (found !== undefined) return found;
  throw inputError('BENCH_OPTION_INVALID', `there is no ${what} "${value}"`, {
    next: `It is one of: ${all.join(', ')}.`,
  });
}
