/** `gradwire nodes import`: hosts of ~/.ssh/config as nodes, all of them or those named. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../../shared/errors.ts';
import { nearest } from '../../shared/nearest.ts';
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
        if (configFile !== undefined && !existsSync(configFile)) {
          throw inputError('FILE_NOT_FOUND', 'there is no such file', {
            place: configFile,
            next: 'Give the path of a file in the format of ssh_config(5).',
          });
        }
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
                ? 'List them: the same command without names.'
                : `Did you mean "${suggestion}"?`,
          });
        }
        await withWorkspace(async ({ store, inventory }) => {
          for (const name of names) {
            const entry = { name, destination: name, configFile };
            store.nodes.add(inventory.parse(entry));
            process.stdout.write(`added ${name}\n`);
          }
        });
      },
    );
}
