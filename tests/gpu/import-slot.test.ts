/** Slots of functions that Dawn imports, for both processors, as readelf finds them. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { importSlot } from '../../src/agent/gpus/import-slot.ts';

const manifest = createRequire(import.meta.url).resolve('webgpu/package.json');
const library = (platform: string): string =>
  path.join(path.dirname(manifest), 'dist', platform, 'dawn.node');

function byReadelf(file: string, symbol: string): number {
  const text = execFileSync('readelf', ['-rW', file], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const line = text.split('\n').find((one) => one.includes(` ${symbol}@`));
  return Number.parseInt(line!, 16);
}

describe.skipIf(process.platform !== 'linux')(
  'the slot of an imported function',
  () => {
    test.each(['linux-x64', 'linux-arm64'])('of %s', (platform) => {
      const file = library(platform);
      for (const symbol of ['dlsym', 'dlopen', 'malloc']) {
        expect(importSlot(file, symbol)).toBe(byReadelf(file, symbol));
      }
    });

    test('is not there where nothing of that name is imported', () => {
      expect(importSlot(library('linux-x64'), 'dlsy')).toBeUndefined();
      expect(importSlot(library('linux-x64'), 'vkCreateInstance')).toBeUndefined();
    });

    test.each(['darwin-universal', 'win32-x64'])('is not there in %s', (platform) => {
      expect(importSlot(library(platform), 'dlsym')).toBeUndefined();
      expect(importSlot(manifest, 'dlsym')).toBeUndefined();
    });
  },
);
