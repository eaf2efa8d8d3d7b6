/** Machines that answer a measurement with what is none: it is refused, and nothing is stored. */
import { expect, test } from 'vitest';
import { checkLinks } from '../../../src/main/cluster/link-check.ts';
import { checkNetwork } from '../../../src/main/cluster/network-check.ts';
import type { NodeLink } from '../../../src/main/cluster/node-link.ts';

/** A machine whose supervisor gives these answers. */
function machine(name: string, answers: Readonly<Record<string, unknown>>): NodeLink {
  const request = (method: string): Promise<unknown> =>
    Promise.resolve(answers[method] ?? {});
  const there = { there: '10.0.0.1', here: '10.0.0.2' };
  const link = { name, identity: name, addresses: there, ports: undefined, request };
  return {
    ...link,
    connect: () => Promise.resolve(),
    connection: { request },
  } as unknown as NodeLink;
}

const idle = { runs: { runs: [] } };

test.each([
  undefined,
  { alpha: 1e-5, there: 1e-9 },
  { alpha: NaN, there: 1e-9, back: 1e-9 },
  { alpha: 1e-5, there: -1, back: 1e-9 },
  { alpha: 1e-5, there: 1e-9, back: 'fast' },
])('a link timed as %j', async (timing) => {
  const opened = { address: { host: '10.0.0.1', port: 1 } };
  const answers = {
    ...{ ...idle, openLinkEnd: opened, timeLink: { timing, transport: 'tcp' } },
  };
  const pairs = [];
  for await (const pair of checkLinks([machine('a', answers), machine('b', answers)])) {
    pairs.push(pair);
  }
  expect(pairs).toMatchObject([
    { links: [{ failure: { error: { code: 'LINK_CHECK_EMPTY' } } }, {}] },
  ]);
});

test.each([
  [undefined, 'NETWORK_PROFILE_INVALID'],
  [{ version: 1 }, 'NETWORK_PROFILE_INVALID'],
  [{ version: 1, hidden: 'x'.repeat(1000) }, /^NETWORK_PROFILE_/],
])('a network profile %j', async (profile, code) => {
  const node = machine('a', { ...idle, measureNetwork: { profile } });
  const request = { ranks: 2, transport: 'auto', effort: 'quick' } as const;
  await expect(checkNetwork(node, { request, whileRunning: false })).rejects.toThrow(
    expect.objectContaining({ code: expect.stringMatching(code), place: 'a' }),
  );
});
