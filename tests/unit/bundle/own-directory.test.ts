import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownDirectory } from '../../../src/agent/bundle/own-directory.ts';

let parent: string;

beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'gradwire-own-'));
});

afterEach(() => {
  rmSync(parent, { recursive: true });
});

it('is made for its user alone, and found again', () => {
  const made = ownDirectory(parent, 'gradwire-code');
  expect(made).toMatch(new RegExp(`^${parent}.gradwire-code-`));
  expect(ownDirectory(parent, 'gradwire-code')).toBe(made);
});

it('is not used where others may write to it', () => {
  chmodSync(ownDirectory(parent, 'gradwire-code')!, 0o770);
  expect(ownDirectory(parent, 'gradwire-code')).toBeUndefined();
});

it('is not a link to somewhere else', () => {
  const made = ownDirectory(parent, 'gradwire-code')!;
  rmSync(made, { recursive: true });
  const elsewhere = path.join(parent, 'elsewhere');
  mkdirSync(elsewhere, { mode: 0o700 });
  symlinkSync(elsewhere, made);
  expect(ownDirectory(parent, 'gradwire-code')).toBeUndefined();
});

it('is undefined if it cannot be created', () => {
  expect(ownDirectory(path.join(parent, 'missing'), 'gradwire-code')).toBeUndefined();
});
