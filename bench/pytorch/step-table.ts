/** Steps by their way to communicate, as rows of a table. */
import { textTable } from '../../src/cli/text/text-table.ts';
import { median } from '../quantiles.ts';
import type { Result } from './programs.ts';

/** Times are milliseconds, medians of the steps. */
export interface StepRow {
  readonly model: string;
  readonly ranks: number;
  readonly cores: number;
  readonly link: string;
  readonly way: string;
  readonly stepMs: number;
  readonly computeMs: number;
  /** The processor's time of a joined program's own process on the bridge to its agent. */
  readonly bridge?:
    | { readonly ms: number; readonly copiesMs: number; readonly messagesMs: number }
    | undefined;
}

export function stepRow(
  about: Pick<StepRow, 'model' | 'ranks' | 'cores' | 'link' | 'way'>,
  { computing, copies, messages, times }: Result,
): StepRow {
  const row = { ...about, stepMs: median(times), computeMs: median(computing) };
  if (copies === undefined || messages === undefined) return row;
  const together = copies.map((ms, step) => ms + messages[step]!);
  const bridge = {
    ms: median(together),
    copiesMs: median(copies),
    messagesMs: median(messages),
  };
  return { ...row, bridge };
}

/** @param first the way to communicate that the others are compared with */
export function stepTable(rows: readonly StepRow[], first: string): string {
  const lines = rows.map((row) => {
    const same = (other: StepRow): boolean =>
      other.model === row.model && other.ranks === row.ranks && other.link === row.link;
    const dense = rows.find((other) => same(other) && other.way === first)!;
    const { bridge } = row;
    return [
      ...[row.model, String(row.ranks), row.link, row.way],
      ...[row.stepMs.toFixed(1), row.computeMs.toFixed(1)],
      ...(bridge === undefined
        ? ['', '']
        : [bridge.ms.toFixed(2), `${((100 * bridge.ms) / row.stepMs).toFixed(1)} %`]),
      `${(dense.stepMs / row.stepMs).toFixed(2)}×`,
    ];
  });
  const head = [
    ...['model', 'ranks', 'link', 'communication'],
    ...['step ms', 'alone ms', 'bridge ms', 'of step', 'faster'],
  ];
  const left = ['left', 'left', 'left', 'left'] as const;
  const right = ['right', 'right', 'right', 'right', 'right'] as const;
  return textTable([head, ...lines], [...left, ...right]);
}

/** A warning for each number of ranks that have no core of their own. */
export function crowded(ranks: readonly number[], cores: number): readonly string[] {
  return ranks
    .filter((count) => count > cores)
    .map(
      (count) =>
        `${count} ranks take turns on ${cores} ${cores === 1 ? 'core' : 'cores'}: their steps are longer than on as many cores, with every way to communicate.`,
    );
}
