/**
 * Terms of the field that the page explains where it uses them. `npm run reference` writes them
 * into docs/glossary.md, so that a term has one definition.
 */
import { capitalized } from './capitalized.ts';

/** Definitions by term, as the glossary has them: one sentence without its full stop. */
export const TERMS = {
  step: 'the time that one iteration takes; its phases add up to it',
  straggler:
    'a rank that arrives last in most exchanges, so that the others wait for it',
  exposed:
    'of communication: not overlapped, so that it makes the step longer; the phases from compress to decompress together',
  overlapped:
    'what took no time of its own: communication while the trainer computed, and compressing and summing while bytes were in flight; it is in no phase, and shown beside them',
  bucket: 'tensors that are exchanged in one piece',
  payload: 'the output of a method for a bucket, before framing',
  'wire bytes': 'bytes at the sockets, framing included',
  'dense bytes': 'bytes of the gradient without compression: 4 for each element',
  density: 'entries sent, divided by elements',
  'fill-in':
    'how much the sum of sparse payloads outgrows each of them, as ranks send different entries',
  residual:
    'what error feedback keeps for later iterations; memory in ScaleCom, error in DCT',
  fence: 'the iteration before which a switch takes effect on all ranks',
  target:
    'in a comparison, the value of a quantity that runs are to reach, such as 90 % accuracy',
  point:
    'in a sweep, one choice of values, which runs with each seed; in Compare, a place on a curve',
  seed: 'the number from which a run draws its weights, batches and noise; runs of several seeds show what is chance',
} as const;
export type TermName = keyof typeof TERMS;

/** The definition of a term as a sentence. */
export const termText = (term: TermName): string => `${capitalized(TERMS[term])}.`;

/** A piece of a text: a term as it is written there, or what is between terms. */
interface TermPiece {
  readonly text: string;
  readonly term?: TermName;
}

/** A text divided at the first place of each of these terms. */
export function piecesOf(
  text: string,
  terms: readonly TermName[],
): readonly TermPiece[] {
  const [term, ...others] = terms;
  if (term === undefined) return text === '' ? [] : [{ text }];
  const at = text.toLowerCase().indexOf(term);
  if (at === -1) return piecesOf(text, others);
  const end = at + term.length;
  return [
    ...piecesOf(text.slice(0, at), others),
    { text: text.slice(at, end), term },
    ...piecesOf(text.slice(end), others),
  ];
}
