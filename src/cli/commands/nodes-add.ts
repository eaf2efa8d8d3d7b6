/** `gradwire nodes add`: add a machine by name, without connecting to it. */
import type { Command } from 'commander';
import { entryFrom, NODE_FIELDS } from '../../shared/machines/node-fields.ts';
import { withWorkspace } from '../session/workspace.ts';
import {
  addNodeOptions,
  givenFields,
  placeOf,
  refuseStraySlurm,
  type NodeOptions,
} from './node-options.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';

export function addNodesAddCommand(nodes: Command): void {
  const command = nodes
    .command('add')
    .description('add a machine; ~/.ssh/config applies to its host')
    .argument('<name>', 'its name in world.nodes of specs')
    .requiredOption('--host <host>', 'name or address, or a Host from ~/.ssh/config')
    .option('--slurm', 'the machine is the login node of a Slurm cluster', false)
    .option(...JSON_ANSWER);
  const keys = NODE_FIELDS.map(({ key }) => key);
  addNodeOptions(
    command,
    keys.filter((key) => key !== 'host' && key !== 'name'),
  ).action(async (name: string, options: NodeOptions) => {
    const given = givenFields(options);
    const slurm = options['slurm'] === true;
    if (!slurm) refuseStraySlurm(given);
    const raw = entryFrom({ fields: { ...given, name }, slurm });
    await withWorkspace(async ({ store, inventory }) => {
      store.nodes.add(inventory.parse(raw, (path) => placeOf(path, given)));
      answer(
        options['json'] === true,
        { added: name },
        `added ${name}; check it with: gradwire nodes check ${name}\n`,
      );
    });
  });
}
