/** `gradwire nodes add`: a machine by name. Nothing is connected to. */
import path from 'node:path';
import type { Command } from 'commander';
import { withWorkspace } from '../session/workspace.ts';
import { repeated } from '../text/repeated.ts';

interface AddOptions {
  readonly host: string;
  readonly port?: string;
  readonly user?: string;
  readonly identity: readonly string[];
  readonly jump: readonly string[];
  readonly label: readonly string[];
  readonly address?: string;
  readonly ports?: string;
}

export function addNodesAddCommand(nodes: Command): void {
  nodes
    .command('add')
    .description('add a machine; what ~/.ssh/config says of the host holds')
    .argument('<name>', 'the name that specs give in world.nodes')
    .requiredOption('--host <host>', 'name or address, or a Host of ~/.ssh/config')
    .option('--port <port>', 'port of its SSH server')
    .option('--user <user>', 'account there')
    .option('--identity <file>', 'private key to try first; repeat it', repeated, [])
    .option('--jump <host>', 'host in between; repeat it for more', repeated, [])
    .option('--label <text>', 'for your own order; repeat it', repeated, [])
    .option('--address <address>', 'where other machines reach it, if not by SSH’s')
    .option('--ports <range>', 'that its ranks may listen on, as 20000-20100')
    .action(async (name: string, options: AddOptions) => {
      const { host, port, user, identity, jump, label, address, ports } = options;
      const bracketed = host.includes(':') && port !== undefined ? `[${host}]` : host;
      const raw = {
        name,
        destination:
          (user === undefined ? '' : `${user}@`) +
          bracketed +
          (port === undefined ? '' : `:${port}`),
        identities: identity.map((file) => path.resolve(file)),
        ...(jump.length === 0 ? {} : { jump: jump.join(',') }),
        labels: label,
        ...(address === undefined ? {} : { address }),
        ...(ports === undefined ? {} : { ports }),
      };
      await withWorkspace(async ({ store, inventory }) => {
        store.nodes.add(inventory.parse(raw));
        process.stdout.write(
          `added ${name}; see what it is like: gradwire nodes check ${name}\n`,
        );
      });
    });
}
