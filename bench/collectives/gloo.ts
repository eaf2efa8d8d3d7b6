/** Gloo's allreduce, as PyTorch has it: bench/peers/gloo_allreduce.py, a process a rank. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { peerPython as python } from '../peers/python.ts';
import { DENSE_TASK, type Peer, type PeerPlace } from './peer-world.ts';

const script = path.join(import.meta.dirname, '../peers/gloo_allreduce.py');

export const gloo: Peer = {
  name: 'gloo',
  missing,
  tasks: () => [DENSE_TASK],
  commands,
};

async function missing(): Promise<string | undefined> {
  try {
    await promisify(execFile)(python, ['-c', 'import torch.distributed']);
    return undefined;
  } catch {
    return `${python} has no torch: npm test installs it into .venv`;
  }
}

function commands(place: PeerPlace): Promise<readonly (readonly string[])[]> {
  const { ranks, links, socket, folder } = place;
  const rendezvous = path.join(folder, 'rendezvous');
  const device = links.namespaces === undefined ? 'lo' : 'eth0';
  return Promise.resolve(
    Array.from({ length: ranks }, (_, rank) => [
      ...links.prefix(rank),
      ...['env', `GLOO_SOCKET_IFNAME=${device}`, python, script],
      ...[socket, rendezvous, String(rank), String(ranks)],
    ]),
  );
}
