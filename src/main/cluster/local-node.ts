/** The local computer as a node: its supervisor listens on the home's socket. */
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import type { Home } from '../home/home.ts';
import type { NodeAccess } from './node-access.ts';
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
