/** Options from the command line, checked. */
import { parseArgs } from 'node:util';
import { inputError } from '../../src/shared/errors/errors.ts';
import { LINK_NAMES, type LinkName } from './links.ts';
import { TRANSPORT_CHOICES, type TransportChoice } from './rank-transport.ts';

const SECTIONS = [
  'sweep',
  'sparse',
  'grid',
  'exchange',
  'memory',
  'emulation',
  'predictions',
] as const;
type Section = (typeof SECTIONS)[number];
const BY_DEFAULT: readonly Section[] = ['sweep', 'exchange'];

export interface BenchOptions {
  readonly sections: readonly Section[];
  /** P of the sweep and of the grid; undefined: each section's own. */
  readonly ranks: readonly number[] | undefined;
  /** Bytes of dense vectors; undefined: the section's own. */
  readonly sizes: readonly number[] | undefined;
  readonly transport: TransportChoice;
  readonly links: readonly LinkName[];
  readonly peers: boolean;
  /** Whether each rank, ours and theirs, stays on one core. */
  readonly bound: boolean;
  readonly quick: boolean;
  readonly json: boolean;
}

const MOST_RANKS = 64;

/** @throws GradwireError `BENCH_OPTION_INVALID` */
export function parseOptions(args: readonly string[]): BenchOptions {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      sweep: flag,
      sparse: flag,
      grid: flag,
      exchange: flag,
      memory: flag,
      emulation: flag,
      predictions: flag,
      ranks: { type: 'string' },
      sizes: { type: 'string' },
      transport: { type: 'string', default: 'auto' },
      links: { type: 'string', default: 'loopback' },
      bound: flag,
      peers: flag,
      quick: flag,
      json: flag,
    },
  });
  const chosenSections = SECTIONS.filter((section) => values[section]);
  return {
    sections: chosenSections.length > 0 ? chosenSections : BY_DEFAULT,
    ranks: values.ranks === undefined ? undefined : list(values.ranks).map(parseRanks),
    sizes: values.sizes === undefined ? undefined : list(values.sizes).map(parseSize),
    transport: chosen('transport', values.transport, TRANSPORT_CHOICES),
    links: list(values.links).map((name) => chosen('link', name, LINK_NAMES)),
    bound: values.bound,
    peers: values.peers,
    quick: values.quick,
    json: values.json,
  };
}

function parseRanks(text: string): number {
  const ranks = Number(text);
  if (Number.isInteger(ranks) && ranks >= 2 && ranks <= MOST_RANKS) return ranks;
  throw invalid(`"${text}" is no number of ranks`, `Give 2 to ${MOST_RANKS}, as 2,4.`);
}

/** Powers of 1024, as nccl-tests has them. */
function parseSize(text: string): number {
  const [, digits, unit] = /^(\d+)([KM]?)$/.exec(text) ?? [];
  const bytes =
    Number(digits) * { '': 1, K: 2 ** 10, M: 2 ** 20 }[unit as '' | 'K' | 'M'];
  if (bytes > 0 && bytes % 4 === 0 && bytes < 2 ** 30) return bytes;
  throw invalid(
    `"${text}" is no size of a vector`,
    'Give bytes, a multiple of 4 below 1024M, as 8,64K,4M.',
  );
}

function list(text: string): readonly string[] {
  return text.split(',').filter((part) => part !== '');
}

function chosen<T extends string>(what: string, value: string, all: readonly T[]): T {
  const found = all.find((each) => each === value);
  if (found !== undefined) return found;
  throw invalid(`there is no ${what} "${value}"`, `It is one of: ${all.join(', ')}.`);
}

function invalid(message: string, next: string): Error {
  return inputError('BENCH_OPTION_INVALID', message, { next });
}
