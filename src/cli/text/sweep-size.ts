/** The size of a sweep as text. */
import type { ExpandedSweep } from '../../shared/sweep/sweep-points.ts';

/** `rates: 3 points, 2 seeds (1, 2), 6 runs` */
export const sizeText = ({
  name,
  points,
  seeds,
}: Pick<ExpandedSweep, 'name' | 'points' | 'seeds'>): string =>
  `${name}: ${count(points.length, 'point')}, ${count(seeds.length, 'seed')} ` +
  `(${seeds.join(', ')}), ${count(points.length * seeds.length, 'run')}`;

const count = (many: number, what: string): string =>
  `${many} ${what}${many === 1 ? '' : 's'}`;
