/** Whether Node is deployed to a machine that may have its own. */
import { expect, test } from 'vitest';
import { chooseNode } from '../../../src/main/deploy/node-choice.ts';
import { parsePreflight } from '../../../src/main/deploy/preflight.ts';

const OLD_GLIBC = 'system=Linux\nmachine=x86_64\nlibc=glibc\nglibc=2.12\nnode=v24.1.0';
const NEW_GLIBC = OLD_GLIBC.replace('2.12', '2.39');

/** Whether Node is brought, and whether the machine was inspected for that. */
async function chosen(
  node: string | undefined,
  slurm: boolean,
  { runtimes = [] as string[], text = NEW_GLIBC, without = false } = {},
): Promise<readonly [brings: boolean, inspected: boolean]> {
  let inspected = false;
  const { brings } = await chooseNode({ node, runtimes }, slurm, {
    isWithout: () => Promise.resolve(without),
    inspect: () => {
      inspected = true;
      return Promise.resolve(parsePreflight(text, 0, true));
    },
  });
  return [brings, inspected];
}

test('a machine with Node 24 needs no other', async () => {
  expect(await chosen('v24.1.0', false)).toEqual([false, false]);
  expect(await chosen('v18.0.0', false)).toEqual([true, false]);
  expect(await chosen(undefined, true)).toEqual([true, false]);
});

test('a login node of Slurm gets one for its compute nodes', async () => {
  expect(await chosen('v24.1.0', true)).toEqual([true, true]);
  const runtimes = ['0123456789abcdef0123456789abcdef'];
  expect(await chosen('v24.1.0', true, { runtimes })).toEqual([true, false]);
});

test('a cluster on which only its own Node runs keeps to that', async () => {
  expect(await chosen('v24.1.0', true, { text: OLD_GLIBC })).toEqual([false, true]);
});

test('a cluster that keeps to its own Node is inspected once', async () => {
  expect(await chosen('v24.1.0', true, { without: true })).toEqual([false, false]);
  // Without a Node of its own, it needs the deployed one whatever was found before.
  expect(await chosen(undefined, true, { without: true })).toEqual([true, false]);
});
