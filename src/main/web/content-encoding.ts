/**
 * Compressed forms of the renderer's files: the build puts them beside the files
 * (scripts/precompressed.ts), and the server sends one that the browser accepts. Browsers
 * accept Brotli over http: at most from this computer (Firefox not even then), hence gzip
 * too.
 */

/** The best first, with the suffixes of their files. */
export const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

export type ContentEncoding = (typeof ENCODINGS)[number];

/**
 * The encodings that an Accept-Encoding header allows and prefers to the plain form, best
 * first (RFC 9110, 12.5.3). Without a header: only the plain form.
 */
export function acceptedEncodings(
  header: string | undefined,
): readonly ContentEncoding[] {
  const weights = new Map<string, number>();
  for (const item of (header ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    // A weight that is not a number allows nothing.
    const value = weight === undefined ? 1 : Number(weight.slice(2));
    if (name !== '') weights.set(name, value >= 0 && value <= 1 ? value : 0);
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  const plain = weights.get('identity') ?? 0;
  return ENCODINGS.filter(
    ({ name }) => weightOf(name) > 0 && weightOf(name) >= plain,
  ).toSorted((a, b) => weightOf(b.name) - weightOf(a.name));
}
