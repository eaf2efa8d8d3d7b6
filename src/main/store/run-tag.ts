/** A tag that users give to runs: one word, which filters find as it is. */
import { inputError } from '../../shared/errors/errors.ts';
import { isPrintable, shownValue } from '../../shared/words/printable.ts';

const LONGEST_TAG = 40;
/** Most tags of a run. */
export const MOST_TAGS = 32;

const TAG_RULE = `a tag has 1 to ${LONGEST_TAG} characters, without blanks, commas, quotes, asterisks and control characters, and does not begin with a dash`;

const isTag = (text: string): boolean =>
  text.length <= LONGEST_TAG && /^[^\s,"*-][^\s,"*]*$/u.test(text) && isPrintable(text);

/**
 * A tag as it is stored: composed characters are one, so that what looks the same is the same.
 * @throws GradwireError `TAG_INVALID`
 */
export function readTag(text: string): string {
  const tag = text.trim().normalize('NFC');
  if (isTag(tag)) return tag;
  throw inputError('TAG_INVALID', `${shownValue(text)} is no tag: ${TAG_RULE}`, {
    next: 'Write another word.',
  });
}
