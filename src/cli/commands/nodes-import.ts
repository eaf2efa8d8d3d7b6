/** `gradwire nodes import`: hosts of ~/.ssh/config as nodes, all of them or those named. */
import path from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../../shared/errors.ts';
import { nearest } from '../../shared/nearest.ts';
import { parseNodeEntry } from '../../shared/node-entry.ts';
import { importableHosts } from '../../main/ssh/config/resolve-target.ts';
import { withWorkspace } from '../session/workspace.ts';

export function addNodesImportCommand(nodes: Command): void {
  nodes
    .command('import')
    .description('add hosts of ~/.ssh/config; without names, list them')
    .argument('[names...]', 'hosts to add')
    .option('--config <file>', 'another file than ~/.ssh/config')
    .action(
      async (names: readonly string[], { config }: { readonly config?: string }) => {
        // Absolute: later commands read it too, from wherever they run.
        const configFile = config === undefined ? undefined : path.resolve(config);
        const hosts = importableHosts({ configFile });
        if (names.length === 0) {
          for (const host of hosts) process.stdout.write(`${host}\n`);
          return;
        }
        for (const name of names) {
          if (hosts.includes(name)) continue;
          const suggestion = nearest(name, hosts);
          throw inputError('HOST_UNKNOWN', `there is no host "${name}"`, {
            place: configFile ?? '~/.ssh/config',
            next:
              suggestion === undefined
                ? 'List them with: gradwire nodes import.'
                : `Did you mean "${suggestion}"?`,
          });
        }
        await withWorkspace(async ({ store }) => {
          for (const name of names) {
            store.nodes.add(parseNodeEntry({ name, destination: name, configFile }));
            process.stdout.write(`added ${name}\n`);
          }
        });
      },
    );
}
