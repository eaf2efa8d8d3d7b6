/** Whether compressing pays in a predicted world, in one sentence. */
import { serversText } from '../plan/exchange-plan.ts';
import { formatDuration } from '../words/units.ts';
import type { Candidate } from './candidate.ts';

export interface PlanVerdict {
  readonly type: 'verdict';
  readonly ranks: number;
  readonly compress: boolean;
  readonly method: string;
  readonly collective: string;
  readonly speedup: number;
  readonly text: string;
}

/** @param candidates fastest first, one of them the spec's own; perhaps none is uncompressed, for lack of memory */
export function planVerdict(
  candidates: readonly Candidate[],
  ranks: number,
): PlanVerdict {
  const [best] = candidates as readonly [Candidate, ...Candidate[]];
  const own = candidates.find((candidate) => candidate.own)!;
  // Speedups are against the spec's own then.
  const dense = candidates.find(({ uncompressed }) => uncompressed) ?? own;
  const compress = best.speedup > 1;
  const advice = compress
    ? `compress: ${best.method} over ${collectiveText(best)} is predicted to take ` +
      `${seconds(best.step)} a step instead of ${seconds(dense.step)} ` +
      `(${best.speedup.toFixed(2)} times as fast)`
    : `do not compress: no method is predicted to beat ${collectiveText(dense)}, ` +
      `${seconds(dense.step)} a step`;
  const ownAdvice =
    own === best || own.step === dense.step
      ? ''
      : own.speedup > 1
        ? `; the spec’s ${own.method} is predicted to be ${own.speedup.toFixed(2)} times as fast`
        : `; the spec’s ${own.method} would take ${seconds(own.step)}`;
  const { method, collective, speedup } = best;
  return {
    type: 'verdict',
    ranks,
    compress,
    method,
    collective,
    speedup,
    text: `${ranks} rank${ranks === 1 ? '' : 's'}, ${advice}${ownAdvice}`,
  };
}

export const collectiveText = ({
  collective,
  servers,
}: Pick<Candidate, 'collective' | 'servers'>): string =>
  servers === undefined ? collective : `${collective}, ${serversText(servers)}`;

const seconds = (time: number): string => formatDuration(1000 * time);
