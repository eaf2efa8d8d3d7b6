import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCommands } from '../../../src/renderer/state/page/command-search.ts';
import {
  formatRoute,
  parseRoute,
  type Route,
} from '../../../src/renderer/state/places/route.ts';
import {
  isModified,
  matchesShortcut,
  shortcutKeys,
} from '../../../src/renderer/state/page/shortcut.ts';

const root = path.join(import.meta.dirname, '../../..');

describe('routes', () => {
  const routes: readonly Route[] = [
    { view: 'start' },
    { view: 'runs' },
    {
      view: 'runs',
      filter: 'loss<0.2 tag:"a & b" 100% =?#',
      order: '-exchange.ratio',
      group: 'method',
      deleted: true,
    },
    { view: 'run', run: 'a/b c' },
    { view: 'sweeps' },
    { view: 'sweeps', sweep: 'a/b' },
    {
      view: 'compare',
      runs: ['a/b', 'c,d'],
      of: 'training-loss',
      target: '90 %',
      by: 'bytes',
      baseline: 'c,d',
    },
    { view: 'new', preset: 'digits topk', run: undefined },
    { view: 'new', preset: undefined, run: 'r-1' },
    { view: 'new', preset: undefined, run: undefined },
  ];
  it.each(routes)('come back from their address: %j', (route) => {
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  it.each([
    ['', 'start'],
    ['#/nowhere', 'start'],
    ['#/run/', 'runs'],
    ['#/runs?page=-1&deleted=maybe&x', 'runs'],
    ['#/run/%E0', 'run'],
    ['#/compare', 'compare'],
  ])('lead somewhere from any address: "%s"', (hash, view) => {
    expect(parseRoute(hash).view).toBe(view);
  });
});

it('an address of a comparison has each run once, and no choice that there is none of', () => {
  expect(parseRoute('#/compare/a,b,a,?by=luck&of=beauty')).toEqual({
    view: 'compare',
    runs: ['a', 'b'],
  });
});

describe('shortcuts', () => {
  const plain = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  it.each([
    ['mod+shift+p', { key: 'P', ctrlKey: true, shiftKey: true }, false, true],
    ['mod+shift+p', { key: 'p', ctrlKey: true }, false, false],
    ['mod+n', { key: 'n', ctrlKey: true }, false, true],
    ['mod+n', { key: 'n', ctrlKey: true }, true, false],
    ['mod+n', { key: 'n', metaKey: true }, true, true],
    ['mod+n', { key: 'n', ctrlKey: true, altKey: true }, false, false],
    ['?', { key: '?', shiftKey: true }, false, true],
    ['?', { key: '?' }, false, true],
    ['n', { key: 'N', shiftKey: true }, false, false],
    ['n', { key: 'n', ctrlKey: true }, false, false],
    ['mod+enter', { key: 'Enter', ctrlKey: true }, false, true],
  ])('%s by %j (mac: %s): %s', (shortcut, stroke, mac, matches) => {
    expect(matchesShortcut({ ...plain, ...stroke }, shortcut, mac)).toBe(matches);
  });

  it('none is a letter alone, which would act without being meant', () => {
    const sources = globSync('src/renderer/**/*.{ts,svelte}', { cwd: root });
    const lists = sources.flatMap((file) => [
      ...readFileSync(path.join(root, file), 'utf8').matchAll(
        /shortcuts: \[([^\]]*)\]/g,
      ),
    ]);
    expect(lists.length).toBeGreaterThan(5);
    expect(lists.map(([, keys]) => keys).join(' ')).not.toMatch(/'[a-z0-9]'/i);
  });

  it('are written as the keys of the machine', () => {
    expect(shortcutKeys('mod+shift+p', false)).toEqual(['Ctrl', 'Shift', 'P']);
    expect(shortcutKeys('mod+shift+p', true)).toEqual(['⌘', '⇧', 'P']);
    expect(isModified('mod+n')).toBe(true);
    expect(isModified('?')).toBe(false);
  });
});

describe('finding commands', () => {
  const commands = [
    { id: 'a', title: 'New experiment', group: 'Go to', run: () => undefined },
    { id: 'b', title: 'Theme: dark', group: 'Look', run: () => undefined },
  ];
  it.each([
    ['', ['a', 'b']],
    ['exp', ['a']],
    ['go new', ['a']],
    ['dark theme', ['b']],
    ['xperiment', []],
  ])('"%s"', (typed, ids) => {
    expect(findCommands(commands, typed).map((command) => command.id)).toEqual(ids);
  });
});
