/** The settings of a figure's runs as a short text: other specs, seeds or measures give another one. */
import { createHash } from 'node:crypto';
import type { Figure } from './figure.ts';

/** Machines and directories are left out: they change no number that is judged. */
export function setupOf({
  cases,
  measureVersion,
  seeds,
}: Pick<Figure, 'cases' | 'measureVersion' | 'seeds'>): string {
  const specs = cases.map(({ id, spec }) => {
    const { workload, world, ...rest } = spec as Readonly<Record<string, object>>;
    return [id, without(workload, 'data'), without(world, 'nodes'), rest];
  });
  const measured = measureVersion === undefined ? [] : [measureVersion];
  const all = JSON.stringify([specs, seeds, ...measured], inOrder);
  return createHash('sha256').update(all).digest('hex').slice(0, 16);
}

const without = (section: object | undefined, key: string): object =>
  Object.fromEntries(Object.entries(section ?? {}).filter(([name]) => name !== key));

/** Gives the keys of an object an order, so that a spec that is written in another one stays the same. */
const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
