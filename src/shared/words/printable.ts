/**
 * Text that a terminal or a page only shows. Control characters could move its cursor, rename its
 * window or hide what stands before them; marks of direction could show it in another order than
 * it has (Unicode TR 36, section 2.10), separators of lines could break a list, and halves of
 * surrogate pairs are no text at all.
 */
const HIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

/** Whether a text has only what can be seen, for schemas of what is shown in lists. */
export const isPrintable = (text: string): boolean => !HIDDEN.test(text);

export const PRINTABLE_RULE = 'control characters are not allowed';

/** Each of these characters but tabs as its code, such as `\x1b`. */
export const escapeControls = (text: string): string =>
  text.replace(new RegExp(HIDDEN, 'gu'), (character) => {
    if (character === '\t') return character;
    const code = character.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, '0')}`;
  });

const SHOWN = 200;

/** A value of the user's as errors show it: as JSON, not longer than a line or two. */
export function shownValue(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value === 'bigint') return String(value);
  // MessagePack has whole numbers of 64 bits, which JSON has not.
  const text =
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'bigint' ? String(inner) : inner,
    ) ?? String(value);
  const characters = [...text];
  return characters.length > SHOWN ? `${characters.slice(0, SHOWN).join('')}…` : text;
}

/** The number of characters, as Unicode counts them: an emoji is one or more, never a half. */
export const lengthOf = (text: string): number => [...text].length;
