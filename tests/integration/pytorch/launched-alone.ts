/** Trainings with DDP's own communication, without Gradwire. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { packageSources, pytorch } from '../../harness/python.ts';

/** A port that nobody uses. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Runs a script on ranks as torchrun would. Resolves once all have ended well. */
export async function trainAlone(
  ranks: number,
  ...command: readonly string[]
): Promise<void> {
  const port = String(await freePort());
  const exits = Array.from({ length: ranks }, (_, rank) => {
    const launched = { RANK: String(rank), WORLD_SIZE: String(ranks) };
    const at = { MASTER_ADDR: '127.0.0.1', MASTER_PORT: port };
    const found = { PYTHONPATH: packageSources };
    const env = Object.assign({}, process.env, launched, at, found);
    return once(spawn(pytorch!, command, { env, stdio: 'inherit' }), 'exit');
  });
  for (const exit of await Promise.all(exits)) expect(exit).toEqual([0, null]);
}
