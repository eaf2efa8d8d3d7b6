/**
 * The page's policy (`style-src 'self'`) blocks style attributes that come with the markup. Svelte
 * writes one for a constant `style="…"`, and for a custom property that a component is given: it
 * wraps the component in an element with `display: contents`.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '../../../src/renderer');
const INLINE = /\s(?:--[\w-]+=|style="[^"{]*")/;

test('no markup has a style attribute', () => {
  const files = globSync('**/*.svelte', { cwd: root });
  expect(files.length).toBeGreaterThan(100);
  const found = files.filter((file) => {
    const [markup] = readFileSync(path.join(root, file), 'utf8').split('<style>');
    return INLINE.test(markup!.replaceAll(/<!--.*?-->/gs, ''));
  });
  expect(found).toEqual([]);
});

test('both are recognised', () => {
  expect('<Scroll --inset="1rem">').toMatch(INLINE);
  expect('<div\n  style="color: red">').toMatch(INLINE);
  expect('<div style="height: {height}px" style:width={width}>').not.toMatch(INLINE);
});
