/** This computer as a node: its supervisor listens on the home's socket. */
import type { Home } from '../home/home.ts';
import type { NodeAccess } from './node-link.ts';
import { connectSupervisor, ensureSupervisor } from './supervisor-process.ts';

const LOCAL_NODE = 'this-computer';

export function localNode(home: Home): NodeAccess {
  return {
    name: LOCAL_NODE,
    find: (handlers) => connectSupervisor(home, handlers),
    ensure: (handlers) => ensureSupervisor(home, handlers),
  };
}
