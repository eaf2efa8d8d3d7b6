/** `gradwire nodes import`: add named hosts from ~/.ssh/config, or list them. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { inputError } from '../../shared/errors/errors.ts';
import { nearest } from '../../shared/words/nearest.ts';
import { entryProblems } from '../../shared/machines/node-entry.ts';
import { namedHosts } from '../../main/ssh/config/named-hosts.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer } from '../text/answer.ts';

const HOW_ELSE = 'give it a Host of letters, digits and . _ - in that file, too';

export function addNodesImportCommand(nodes: Command): void {
  nodes
    .command('import')
    .description('add hosts from ~/.ssh/config; without names, list them')
    .argument('[names...]', 'hosts to add')
    .option('--config <file>', 'read this file instead of ~/.ssh/config')
    .option('--as <name>', 'its name in world.nodes of specs, for one host')
    .option('--json', 'one line of JSON per host', false)
    .action(
      async (
        names: readonly string[],
        {
          config,
          as,
          json,
        }: { readonly config?: string; readonly as?: string; readonly json: boolean },
      ) => {
        // Absolute: later commands read it too, from wherever they run.
        const configFile = config === undefined ? undefined : path.resolve(config);
        if (configFile !== undefined && !existsSync(configFile)) {
          throw inputError('FILE_NOT_FOUND', 'no such file', {
            place: configFile,
            next: 'Give the path of a file in the format of ssh_config(5).',
          });
        }
        const { hosts, skipped } = namedHosts({ configFile });
        if (as !== undefined && names.length !== 1) {
          throw inputError('USAGE', '--as names one host', {
            next: 'Give that host: gradwire nodes import HOST --as NAME.',
          });
        }
        if (names.length === 0) {
          for (const host of hosts) answer(json, { host }, `${host}\n`);
          for (const { reason } of skipped) {
            process.stderr.write(`skipped: ${reason}; ${HOW_ELSE}\n`);
          }
          return;
        }
        for (const name of names) {
          if (hosts.includes(name)) continue;
          const unusable = skipped.find((host) => host.name === name);
          if (unusable !== undefined) {
            throw inputError('HOST_UNKNOWN', unusable.reason, {
              place: configFile ?? '~/.ssh/config',
              next: `Instead, ${HOW_ELSE}.`,
            });
          }
          const suggestion = nearest(name, hosts);
          throw inputError('HOST_UNKNOWN', `there is no host "${name}"`, {
            place: configFile ?? '~/.ssh/config',
            next:
              suggestion === undefined
                ? 'Run the command without names to list the hosts.'
                : `Did you mean "${suggestion}"?`,
          });
        }
        await withWorkspace(async ({ store, inventory }) => {
          for (const host of names) {
            const name = as ?? host;
            if (as === undefined) refuseBadName(host);
            const entry = { name, destination: host, configFile };
            const place = (path: string): string => (path === 'name' ? '--as' : path);
            store.nodes.add(inventory.parse(entry, place));
            answer(json, { added: name, host }, `added ${name}\n`);
          }
        });
      },
    );
}

/** @throws GradwireError `NODE_INVALID`: it cannot be a machine's name */
function refuseBadName(host: string): void {
  const problem = entryProblems({ name: host, destination: host }).find(
    ({ path }) => path === 'name',
  );
  if (problem === undefined) return;
  throw inputError('NODE_INVALID', problem.message, {
    next: `Give it another name: gradwire nodes import ${host} --as NAME.`,
  });
}
