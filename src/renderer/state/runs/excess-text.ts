/** The excess of an iteration over those around it, in a sentence. */
import type { Phase } from '../../../shared/records/phases.ts';
import { formatCount, formatDuration } from '../../../shared/words/units.ts';
import type { IterationExcess, PhaseExcess } from './iteration-excess.ts';

/** Ranks that are named one by one. */
const NAMED = 3;
/** Phases in which a rank waits for what another does: they follow what may be the cause. */
const IDLE: ReadonlySet<Phase> = new Set<Phase>(['wait', 'bubble']);

/** @param excess undefined: too few iterations to compare with */
export function excessText(excess: IterationExcess | undefined): string {
  if (excess === undefined) {
    return 'Too few iterations around it did the same to compare it with them.';
  }
  const { iterations, kind, ranks, slow, time, usual } = excess;
  const around =
    `the iterations around it (median of ${formatCount(iterations)}: ` +
    `${formatDuration(usual)})`;
  const by = formatDuration(Math.abs(time));
  switch (kind) {
    case 'usual':
      return `As long as ${around}.`;
    case 'shorter':
      return `${by} shorter than ${around}.`;
    case 'noise':
      return `${by} longer than ${around}, which differ as much from each other.`;
    case 'longer': {
      const where = slow.length === ranks ? '' : ` on ${ranksText(slow, ranks)}`;
      return `${by} longer${where} than ${around}: ${partsText(excess)}.`;
    }
    default:
      return kind satisfies never;
  }
}

function partsText({ isCarried, parts, ranks }: IterationExcess): string {
  const phases = [...new Set(parts.map(({ phase }) => phase))];
  const isIdle = (phase: Phase): number => (IDLE.has(phase) ? 1 : 0);
  const texts = phases
    .toSorted((a, b) => isIdle(a) - isIdle(b))
    .flatMap((phase) =>
      phaseTexts(
        parts.filter((part) => part.phase === phase),
        ranks,
      ),
    )
    .map(({ time, who }, index) =>
      index === 0 ? `${who} took ${time} more` : `${who} ${time} more`,
    )
    .join(', ');
  return isCarried
    ? texts
    : `no phase of a rank has half of that; the largest part: ${texts}`;
}

/** One entry for each rank, or one for all if they are many. */
function phaseTexts(
  parts: readonly PhaseExcess[],
  ranks: number,
): readonly { readonly who: string; readonly time: string }[] {
  if (parts.length <= NAMED) {
    return parts.map(({ phase, rank, time }) => ({
      who: `${phase} of rank ${rank}`,
      time: formatDuration(time),
    }));
  }
  const times = parts.map(({ time }) => time);
  const [least, most] = [Math.min(...times), Math.max(...times)].map(formatDuration);
  const who = ranksText(
    parts.map(({ rank }) => rank),
    ranks,
  );
  return [
    {
      who: `${parts[0]!.phase} of ${who}`,
      time: least === most ? most! : `${least} to ${most}`,
    },
  ];
}

/** `rank 2`, `ranks 0 and 2`, `12 of 64 ranks`, `all 64 ranks`. */
function ranksText(some: readonly number[], ranks: number): string {
  if (some.length === ranks) return `all ${formatCount(ranks)} ranks`;
  if (some.length > NAMED) {
    return `${formatCount(some.length)} of ${formatCount(ranks)} ranks`;
  }
  const listed = new Intl.ListFormat('en-GB').format(
    some.toSorted((a, b) => a - b).map(String),
  );
  return `${some.length === 1 ? 'rank' : 'ranks'} ${listed}`;
}
