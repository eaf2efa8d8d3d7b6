/** `gradwire nodes remove`: take a machine out of the inventory. */
import type { Command } from 'commander';
import { failure, inputError } from '../../shared/errors/errors.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer } from '../text/answer.ts';

interface RemoveOptions {
  readonly force: boolean;
  readonly json: boolean;
}

export function addNodesRemoveCommand(nodes: Command): void {
  nodes
    .command('remove')
    .description(
      'remove a machine from the list; what was deployed there stays (see uninstall)',
    )
    .argument('<name>', 'its name')
    .option(
      '--force',
      'remove it even if runs have ranks there; those runs fail',
      false,
    )
    .option('--json', 'one line of JSON per run that fails, and one at the end', false)
    .action(async (name: string, { force, json }: RemoveOptions) => {
      await withWorkspace(async ({ store, coordinator }) => {
        store.nodes.named(name);
        for (const { id, nodes: of } of store.runs.unended()) {
          if (!of.includes(name)) continue;
          if (!force) {
            throw inputError('NODE_IN_USE', `run ${id} has ranks on ${name}`, {
              next:
                `Stop it first: gradwire runs stop ${id}. If ${name} will not come back, ` +
                'add --force.',
            });
          }
          const error = failure('NODE_REMOVED', `${name} was removed during the run`, {
            next: 'Records stored before that are kept.',
          });
          const missed = await coordinator.following.abandon(id, error.toData());
          const left =
            missed.length === 0
              ? ''
              : `; its ranks on ${missed.join(' and ')} may still run: add the machine again ` +
                'when it is back, and see: gradwire nodes list';
          answer(json, { failed: id, unreached: missed }, `run ${id}: failed${left}\n`);
        }
        store.nodes.remove(name);
        answer(json, { removed: name }, `removed ${name}\n`);
      });
    });
}
