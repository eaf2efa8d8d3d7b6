/** A forecaster, in its own process, that ends before it answers: its callers learn why. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Forecaster } from '../../../src/main/plan/forecaster.ts';
import { sampleSpec } from '../../unit/main/sample-records.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gradwire-forecaster-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const faults = path.join(import.meta.dirname, 'faulty-forecaster.mjs');

/** The error that a question gets from a forecaster with that fault. */
async function lostBy(fault: string): Promise<unknown> {
  using forecaster = new Forecaster({ rehearsals: path.join(folder, 'rehearsals') });
  const { NODE_OPTIONS: before } = process.env;
  process.env['NODE_OPTIONS'] = `--import ${faults}`;
  process.env['FORECASTER_FAULT'] = fault;
  // The process starts within this call, and nothing else meanwhile.
  const answer = forecaster.ask({
    spec: sampleSpec(),
    worlds: [{ ranks: 2, network: { alpha: 1e-6, beta: 1e-9, gamma: 1e-10 } }],
    compute: 0.01,
    memory: false,
    rehearse: false,
  });
  delete process.env['FORECASTER_FAULT'];
  if (before === undefined) delete process.env['NODE_OPTIONS'];
  else process.env['NODE_OPTIONS'] = before;
  return await answer.catch((error: unknown) => error);
}

const says = (text: RegExp): unknown => expect.stringMatching(text);

test.each([
  ['throws', /^the process that predicts steps is lost: internal: a planted fault$/],
  ['rejects', /^the process that predicts steps is lost: internal: a planted fault$/],
])('a fault that nothing catches is named: it %s', async (fault, message) => {
  expect(await lostBy(fault)).toMatchObject({
    code: 'FORECASTER_LOST',
    message: says(message),
    next: says(/^This is a bug in Gradwire\./),
  });
});

test('an end by a signal may be for lack of memory; another end is not said to be', async () => {
  expect(await lostBy('killed')).toMatchObject({
    code: 'FORECASTER_LOST',
    message: says(/ is lost: it ended by SIGKILL$/),
    next: says(/out of memory/),
  });
  expect(await lostBy('ends')).toMatchObject({
    code: 'FORECASTER_LOST',
    message: says(/ is lost: it ended with code 3$/),
    next: expect.not.stringContaining('out of memory') as unknown,
  });
});
