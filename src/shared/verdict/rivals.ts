/**
 * Rival methods for a payload that would have to be smaller: which of them would be small enough,
 * and what of the uncompressed gradient they would keep. A rank sends its payload to each
 * other rank: 8 bytes for every element that is selected, or a bit for every sign.
 */
import type { RivalMethod } from '../records/comparison.ts';
import { formatPercent } from '../words/units.ts';
import { term, type ProofTerm } from './proof.ts';

/** Names in texts. */
const NAMES: Readonly<Record<RivalMethod['keeps'], string>> = {
  largest: 'top-k',
  signs: '1-bit',
};

/** Bytes of a payload by those of the dense gradient. */
const payloadOf = ({ ratio }: RivalMethod): number =>
  ratio === undefined ? 1 / 32 : 2 * ratio;

const nameOf = ({ keeps, ratio }: RivalMethod): string =>
  `${NAMES[keeps]}${ratio === undefined ? '' : ` ${100 * ratio} %`}`;

/** Bytes that a rank would send by those of its dense gradient. */
const sentOf = (rival: RivalMethod, ranks: number): number =>
  (ranks - 1) * payloadOf(rival);

/**
 * The rival that keeps most of the gradient, in words, of those that send few enough bytes.
 * @param allowed bytes that a rank may send by those of its dense gradient
 */
export function rivalText(
  rivals: readonly RivalMethod[],
  ranks: number,
  allowed: number,
): string {
  if (rivals.length === 0) return '';
  const [best] = rivals
    .filter((rival) => sentOf(rival, ranks) <= allowed)
    .toSorted((a, b) => b.cosine - a.cosine);
  return best === undefined
    ? ': none of the compared methods reaches that'
    : `: ${nameOf(best)} reaches it at cosine ${best.cosine.toFixed(2)}`;
}

/** All rivals, for a proof. */
export const rivalTerms = (
  rivals: readonly RivalMethod[],
  ranks: number,
): readonly ProofTerm[] =>
  rivals.map((rival) =>
    term(
      nameOf(rival),
      `cosine ${rival.cosine.toFixed(3)}, ${formatPercent(sentOf(rival, ranks))} of the dense bytes`,
    ),
  );

/** The meaning of the numbers of rivals, behind a formula. */
export const RIVAL_FORMULA =
  'rivals: ‖kept‖ ÷ ‖y‖ of the uncompressed gradient y at the last comparison, without residuals; ' +
  'a rank sends P − 1 payloads of 8 bytes for an element or a bit for a sign';
