/** `gradwire nodes list`: the machines that were added, and all that runs there. */
import type { Command } from 'commander';
import {
  formatError,
  GradwireError,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import type { FoundRun } from '../../shared/machines/found-run.ts';
import type { NodeEntry } from '../../shared/machines/node-entry.ts';
import { withinList } from '../../main/cluster/list-patience.ts';
import { foundRuns } from '../../main/runs/found-runs.ts';
import { foundLines } from '../text/found-lines.ts';
import { textTable } from '../text/text-table.ts';
import { withWorkspace, type Workspace } from '../session/workspace.ts';
import { tableWidth, WIDE } from '../text/terminal.ts';

const HEADINGS = ['name', 'host', 'through', 'labels', 'cluster', 'running'];

interface ListFlags {
  readonly json: boolean;
  readonly offline: boolean;
  readonly wide: boolean;
}

export function addNodesListCommand(nodes: Command): void {
  nodes
    .command('list')
    .description('list your machines and the runs in progress there')
    .option('--offline', 'connect to no machine: list only runs known here', false)
    .option('--json', 'one line of JSON per machine', false)
    .option(...WIDE, false)
    .action(async ({ json, offline, wide }: ListFlags) => {
      await withWorkspace(
        async (workspace) => {
          const entries = workspace.store.nodes.list();
          const seen = await Promise.all(
            entries.map((entry) => (offline ? NOT_ASKED : lookAt(workspace, entry))),
          );
          // Read after the machines have answered: they may have corrected some.
          const unended = workspace.store.runs.unended();
          const runsOn = (name: string): readonly string[] =>
            unended.filter(({ nodes: of }) => of.includes(name)).map(({ id }) => id);
          if (json) {
            for (const [index, entry] of entries.entries()) {
              const line = { ...entry, runs: runsOn(entry.name), ...seen[index] };
              process.stdout.write(`${JSON.stringify(line)}\n`);
            }
            return;
          }
          if (entries.length === 0) {
            process.stdout.write('no machines yet; add one with: gradwire nodes add\n');
            return;
          }
          const rows = entries.map(
            ({ name, destination, jump = '', labels, slurm }, index) => {
              const { found = [], unreached } = seen[index]!;
              const others = found.map(({ id }) => `${id} (elsewhere)`);
              const running = [...runsOn(name), ...others].join(', ');
              const doubt = unreached === undefined ? '' : ' (not reached)';
              return [
                ...[name, destination, jump, labels.join(', ')],
                ...[slurm === undefined ? '' : 'Slurm', `${running}${doubt}`.trim()],
              ];
            },
          );
          const table = textTable(
            [HEADINGS, ...rows],
            HEADINGS.map(() => 'left'),
            tableWidth(wide),
          );
          process.stdout.write(`${table}\n`);
          for (const [index, { name }] of entries.entries()) {
            const { found = [], unreached } = seen[index]!;
            for (const line of foundLines(name, found))
              process.stdout.write(`${line}\n`);
            if (unreached === undefined) continue;
            const why = formatError(unreached);
            process.stderr.write(`gradwire: ${name} cannot be reached: ${why}\n`);
          }
        },
        { use: offline ? 'brief' : 'lasting' },
      );
    });
}

/** A machine's runs in progress that are not followed here, or why it could not be asked. */
interface Seen {
  readonly found?: readonly FoundRun[];
  readonly unreached?: ErrorData;
}

const NOT_ASKED: Seen = {};

/** Asks for nothing: a list must not wait for a password. */
async function lookAt(
  { store, inventory }: Workspace,
  entry: NodeEntry,
): Promise<Seen> {
  try {
    const runs = await withinList(entry.name, (signal) =>
      inventory.remote(entry).runs({ interactive: false, signal }),
    );
    return { found: foundRuns(store, entry.name, runs ?? []) };
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    return { unreached: error.toData() };
  }
}
