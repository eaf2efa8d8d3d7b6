/**
 * Text that a terminal only shows. Control characters could move its cursor, rename its window
 * or hide what stands before them.
 */
const CONTROL = /\p{Cc}/u;

/** Whether a text has no control characters, for schemas of what is shown in lists. */
export const isPrintable = (text: string): boolean => !CONTROL.test(text);

export const PRINTABLE_RULE = 'control characters are not allowed';

/** Each control character but tabs as its code, such as `\x1b`. */
export const escapeControls = (text: string): string =>
  text.replace(
    /[^\P{Cc}\t]/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );

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
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
