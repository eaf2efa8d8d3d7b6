/** The walks of docs/architecture.md: each names files that exist, once, as many as it says. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '../../..');
const text = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
const [, section] = /^## Walks through the files\n(.*?)^## /ms.exec(text)!;
const [summary, ...parts] = section!.split(/^### /m);

const walks = parts.map((part) => {
  const [title] = part.split('\n');
  return {
    name: title!.replace(/^An? /, ''),
    numbers: [...part.matchAll(/^(\d+)\. `/gm)].map(([, number]) => Number(number)),
    listed: [...part.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file]) => file!),
    named: [...part.matchAll(/`([^`\s]+\.(?:ts|svelte))`/g)].map(([, file]) => file!),
  };
});
const stated = new Map(
  [...summary!.matchAll(/^\| (\w+) +\| .+? \| (\d+) +\| \d+ +\|$/gm)].map(
    ([, name, files]) => [name!, Number(files)],
  ),
);

it('has a row for each walk', () => {
  expect([...stated.keys()]).toEqual(walks.map(({ name }) => name));
  expect(walks.length).toBe(4);
});

describe.each(walks)('$name', ({ listed, name, named, numbers }) => {
  it('names files that exist', () => {
    const gone = named.filter((file) => !existsSync(path.join(root, 'src', file)));
    expect(gone).toEqual([]);
  });

  it('has each file once, and as many as the table says', () => {
    expect(numbers).toEqual(listed.map((_, at) => at + 1));
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.length).toBe(stated.get(name));
  });
});
