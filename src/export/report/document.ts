/**
 * A report as one file of HTML: no script, no request, not even if someone had smuggled one in,
 * for its policy forbids both. Every text is escaped here and nowhere else: a caller cannot forget.
 */
import { escapeMarkup } from '../../shared/words/markup.ts';
import { pictureSvg } from '../picture/picture-svg.ts';
import type { Picture } from '../picture/picture.ts';
import { REPORT_STYLE } from './report-style.ts';

export type Block =
  | { readonly kind: 'lead'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [string, string])[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'picture'; readonly picture: Picture }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
      /** Columns that have texts; others are aligned as numbers. */
      readonly texts?: readonly number[];
    };

interface Section {
  readonly title: string;
  readonly blocks: readonly Block[];
}

export interface Report {
  readonly title: string;
  /** A line below the title. */
  readonly about: string;
  readonly sections: readonly Section[];
  /** The program that made it and when, as its last line. */
  readonly made: string;
}

/** Scripts and requests are denied; styles are in the file. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

/** The report as a file. */
export const reportHtml = ({ about, made, sections, title }: Report): string =>
  '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n' +
  `<meta http-equiv="Content-Security-Policy" content="${POLICY}">\n` +
  '<meta name="viewport" content="width=device-width, initial-scale=1">\n' +
  `<title>${escapeMarkup(title)} – Gradwire</title>\n<style>${REPORT_STYLE}</style>\n</head>\n<body>\n` +
  `<main>\n<header><h1>${escapeMarkup(title)}</h1><p class="soft">${escapeMarkup(about)}</p></header>\n` +
  sections
    .filter(({ blocks }) => blocks.length > 0)
    .map(
      (section) =>
        `<section>\n<h2>${escapeMarkup(section.title)}</h2>\n${section.blocks.map(html).join('\n')}\n</section>\n`,
    )
    .join('') +
  `<footer class="soft">${escapeMarkup(made)}</footer>\n</main>\n</body>\n</html>\n`;

function html(block: Block): string {
  switch (block.kind) {
    case 'lead':
      return `<p class="lead">${escapeMarkup(block.text)}</p>`;
    case 'text':
      return `<p>${escapeMarkup(block.text)}</p>`;
    case 'list':
      return `<ul>${block.items.map((item) => `<li>${escapeMarkup(item)}</li>`).join('')}</ul>`;
    case 'facts':
      return `<dl>${block.facts
        .map(
          ([name, value]) =>
            `<dt>${escapeMarkup(name)}</dt><dd>${escapeMarkup(value)}</dd>`,
        )
        .join('')}</dl>`;
    case 'code':
      return `<pre tabindex="0">${escapeMarkup(block.text)}</pre>`;
    case 'picture':
      return `<figure>${pictureSvg(block.picture)}<figcaption class="soft">${escapeMarkup(block.picture.caption)}</figcaption></figure>`;
    case 'table':
      return table(block);
    default:
      return block satisfies never;
  }
}

function table({ head, rows, texts = [0] }: Extract<Block, { kind: 'table' }>): string {
  const look = (column: number): string =>
    texts.includes(column) ? ' class="text"' : '';
  const line = (row: readonly string[]): string =>
    `<tr>${row.map((cell, column) => `<td${look(column)}>${escapeMarkup(cell)}</td>`).join('')}</tr>`;
  return (
    '<div class="wide" tabindex="0"><table><thead><tr>' +
    head
      .map(
        (cell, column) => `<th scope="col"${look(column)}>${escapeMarkup(cell)}</th>`,
      )
      .join('') +
    `</tr></thead><tbody>${rows.map(line).join('')}</tbody></table></div>`
  );
}
