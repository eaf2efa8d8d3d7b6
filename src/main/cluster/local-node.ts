/** This computer as a node: its supervisor listens on the home's socket. */
import { LOCAL_NODE } from '../../shared/node-entry.ts';
import type { Home } from '../home/home.ts';
import type { NodeAccess } from './node-link.ts';
import type { NodeDirectory } from './node-set.ts';
import { ownPorts } from './port-forwarding.ts';
import { connectSupervisor, ensureSupervisor } from './supervisor-process.ts';

export function localNode(home: Home, name = LOCAL_NODE): NodeAccess {
  return {
    name,
    identity: home.directory,
    addresses: () => ({ there: '127.0.0.1' }),
    forwardPorts: () => Promise.resolve(ownPorts()),
    find: (handlers) => connectSupervisor(home, handlers),
    ensure: (handlers) => ensureSupervisor(home, handlers),
  };
}

/** A fixed list of nodes, the leading one first. */
export function fixedNodes(
  nodes: readonly [NodeAccess, ...NodeAccess[]],
): NodeDirectory {
  return {
    lead: nodes[0].name,
    names: () => nodes.map(({ name }) => name),
    access: (name) => nodes.find((node) => node.name === name),
  };
}
