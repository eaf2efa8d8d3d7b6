/**
 * Licences of what is bundled, in every folder that is given to others. The oracle is not what
 * the build lists: it is the source maps, which name each file that is in a bundle, and for the
 * page, which has none, the packages that its sources import.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { agentFiles, runtimeFiles } from '../../../src/main/deploy/package-files.ts';

const root = path.join(import.meta.dirname, '../../..');
const dist = path.join(root, 'dist');
const RULE = '-'.repeat(80);

const noticesIn = (folder: string): string =>
  readFileSync(path.join(dist, folder, 'THIRD-PARTY-NOTICES'), 'utf8');

const namesIn = (folder: string): readonly string[] =>
  noticesIn(folder)
    .split(`${RULE}\n\n`)
    .slice(1)
    .map((section) => section.split(' ')[0]!);

const packageOf = (file: string): string | undefined =>
  /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];

/** Packages of which a file is in the bundles of a folder. */
function packagesIn(folder: string): readonly string[] {
  const maps = globSync('**/*.map', { cwd: path.join(dist, folder) });
  const files = maps.flatMap((map) => {
    const text = readFileSync(path.join(dist, folder, map), 'utf8');
    return (JSON.parse(text) as { sources: string[] }).sources;
  });
  return [...new Set(files.map(packageOf).filter((name) => name !== undefined))];
}

describe.each(['agent', 'engine', 'cli', 'desktop'])('dist/%s', (folder) => {
  it('has the licence of every package in its bundles', () => {
    const packages = packagesIn(folder);
    expect(packages.length).toBeGreaterThan(1);
    expect(packages.filter((name) => !namesIn(folder).includes(name))).toEqual([]);
  });

  it('has a licence in every section', () => {
    const sections = noticesIn(folder).split(`${RULE}\n\n`).slice(1);
    const licence =
      /Permission is hereby granted|Permission to use, copy|Redistribution and use|Apache License|Blue Oak Model License/i;
    const bare = sections.filter((section) => !licence.test(section));
    expect(bare.map((section) => section.split('\n')[0])).toEqual([]);
  });
});

test('the page’s notices have what its sources import', () => {
  const sources = globSync('src/{renderer,shared}/**/*.{ts,svelte}', { cwd: root });
  const imported = sources.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const imports = text.matchAll(
      /^\s*import (?!type\b)(?:[^'"]* from )?['"]((?:@[^/'"]+\/)?[^./'"][^/'"]*)/gm,
    );
    return [...imports]
      .map(([, name]) => name!)
      .filter((name) => !name.startsWith('node:'));
  });
  expect(imported).toContain('chart.js');
  const named = namesIn('desktop');
  expect([...new Set(imported)].filter((name) => !named.includes(name))).toEqual([]);
});

test('the package has the notices of all its parts together', () => {
  const whole = readFileSync(path.join(dist, 'THIRD-PARTY-NOTICES'), 'utf8');
  for (const folder of ['agent', 'engine', 'kernels', 'cli', 'desktop']) {
    for (const name of namesIn(folder)) expect(whole).toContain(`${RULE}\n\n${name} `);
  }
});

test('an agent that is deployed has its licence, the notices, and those of its binaries', () => {
  const platform = { os: process.platform, architecture: process.arch };
  const names = agentFiles(platform).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['LICENSE', 'THIRD-PARTY-NOTICES']));
  for (const binary of names.filter((name) => name.endsWith('libvulkan.so.1'))) {
    expect(names).toContain(`${binary}.LICENSE`);
  }
  for (const addon of ['koffi', 'webgpu']) {
    const files = names.filter((name) => name.startsWith(`node_modules/${addon}/`));
    expect(files.length === 0 || files.some((name) => /LICENSE/.test(name))).toBe(true);
  }
  const [node, licence] = runtimeFiles(platform);
  expect(node!.name).toBe('bin/node');
  expect(licence!.name).toBe('bin/node.LICENSE');
  expect(readFileSync(licence!.source, 'utf8')).toMatch(/^Node\.js is licensed/);
});

test('the licence has no placeholder', () => {
  const text = readFileSync(path.join(root, 'LICENSE'), 'utf8');
  expect(text).not.toMatch(/\[[a-z ]+\]/);
  expect(text.trimEnd()).toMatch(/END OF TERMS AND CONDITIONS$/);
});
