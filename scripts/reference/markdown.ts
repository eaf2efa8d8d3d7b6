/** Markdown as prettier leaves it: tables whose columns are as wide as their cells. */

/** A cell without what would end it or be read as something else. */
export const cell = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replaceAll('|', String.raw`\|`)
    .replace(/(?<!`)([<>])(?!`)/g, (sign) => (sign === '<' ? '&lt;' : '&gt;'));

export const code = (text: string): string => (text === '' ? '' : `\`${text}\``);

/** A table; code in a cell is not escaped. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [headings, headings.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export const facts = (pairs: readonly (readonly [string, string])[]): string =>
  pairs.map(([heading, text]) => `- ${heading}: ${cell(text)}`).join('\n');
