/** The links to nodes follow the inventory, which commands change while the app runs. */
import { expect, test } from 'vitest';
import { ownPorts } from '../../../src/main/cluster/port-forwarding.ts';
import { NodeSet } from '../../../src/main/cluster/node-set.ts';
import type { NodeAccess } from '../../../src/main/cluster/node-link.ts';

const events = () => ({
  push: () => undefined,
  restored: () => Promise.resolve(),
  wanted: () => false,
  trouble: () => undefined,
  changed: () => undefined,
});

function inventory(machines: Map<string, string>): NodeSet {
  const access = (name: string): NodeAccess | undefined => {
    const identity = machines.get(name);
    if (identity === undefined) return undefined;
    const fail = () => Promise.reject(new Error('never connected here'));
    const addresses = () => ({ there: identity });
    const forwardPorts = () => Promise.resolve(ownPorts());
    return { name, identity, addresses, forwardPorts, find: fail, ensure: fail };
  };
  const names = () => [...machines.keys()];
  return new NodeSet({ lead: 'here', names, access }, events);
}

test('a link stays as long as its machine does', () => {
  const machines = new Map([['box', 'box.lab']]);
  const nodes = inventory(machines);
  const link = nodes.named('box');
  machines.set('other', 'other.lab');
  expect(nodes.named('box')).toBe(link);
  expect([...nodes]).toEqual([link]);
});

test('a name that has come to mean another machine has another link', () => {
  const machines = new Map([['box', 'box.lab']]);
  const nodes = inventory(machines);
  const link = nodes.named('box');
  machines.set('box', 'new-box.lab');
  expect(nodes.named('box')).not.toBe(link);
  expect(nodes.named('box').addresses.there).toBe('new-box.lab');
});

test('a machine that was removed is unknown, and another one is suggested', () => {
  const machines = new Map([
    ['box', 'box.lab'],
    ['bix', 'bix.lab'],
  ]);
  const nodes = inventory(machines);
  nodes.named('box');
  machines.delete('box');
  expect(() => nodes.named('box')).toThrow(
    expect.objectContaining({
      code: 'NODE_UNKNOWN',
      next: 'Did you mean "bix"?',
    }) as Error,
  );
  expect([...nodes]).toEqual([]);
});
