/** Relative links of the documents: each leads to a file, and to a heading of it. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '../../..');
const documents = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: root });

/** The address of a heading, as forges make it. */
const addressOf = (heading: string): string =>
  heading
    .replace(/^#+\s+/, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\-_ ]/gu, '')
    .replaceAll(' ', '-');

const read = (document: string): string =>
  readFileSync(path.join(root, document), 'utf8').replace(/^```.*?^```$/gms, '');

const headings = new Map(
  documents.map((document) => {
    const lines = read(document).split('\n');
    return [document, lines.filter((line) => /^#+\s/.test(line)).map(addressOf)];
  }),
);

it('has no link that leads nowhere', () => {
  expect(documents.length).toBeGreaterThan(100);
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link]) => link!)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [file, heading] = link.split('#') as [string, string?];
        const target =
          file === ''
            ? document
            : path.normalize(path.join(path.dirname(document), file));
        if (!existsSync(path.join(root, target))) return true;
        return (
          heading !== undefined && headings.get(target)?.includes(heading) === false
        );
      })
      .map((link) => `${document}: ${link}`),
  );
  expect(broken).toEqual([]);
});
