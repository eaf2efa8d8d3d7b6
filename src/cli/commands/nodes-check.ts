/** `gradwire nodes check`: inspect a machine before anything is written to it. */
import type { Command } from 'commander';
import type { FoundRun } from '../../shared/machines/found-run.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import type { Preflight } from '../../shared/machines/preflight.ts';
import { foundRuns } from '../../main/runs/found-runs.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { withWorkspace } from '../session/workspace.ts';
import { foundLines } from '../text/found-lines.ts';
import { preflightText } from '../text/preflight-text.ts';

interface Checked {
  readonly seen: Preflight;
  /** Runs in progress there that are not followed here. */
  readonly found: readonly FoundRun[];
}

export function addNodesCheckCommand(nodes: Command): void {
  addConnectOptions(
    nodes
      .command('check')
      .description('inspect a machine; writes nothing there')
      .argument('<name>', 'its name, or this-computer'),
  )
    .option('--json', 'print one line of JSON', false)
    .action(async (name: string, flags: ConnectFlags & { readonly json: boolean }) => {
      const { seen, found } = await withWorkspace(
        async ({ store, inventory }): Promise<Checked> => {
          const seen = await inventory.check(name);
          if (name === LOCAL_NODE) return { seen, found: [] };
          const node = inventory.remote(store.nodes.named(name));
          return {
            seen,
            found: foundRuns(store, node.name, (await node.runs()) ?? []),
          };
        },
        connectOptions(flags),
      );
      const text = [preflightText(name, seen), ...foundLines(name, found)].join('\n');
      process.stdout.write(
        flags.json ? `${JSON.stringify({ ...seen, found })}\n` : `${text}\n`,
      );
      if (seen.findings.some(({ level }) => level === 'error')) process.exitCode = 1;
    });
}
