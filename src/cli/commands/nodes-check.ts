/** `gradwire nodes check`: inspect a machine before anything is written to it. */
import type { Command } from 'commander';
import type { Preflight } from '../../shared/preflight.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { withWorkspace } from '../session/workspace.ts';
import { preflightText } from '../text/preflight-text.ts';

export function addNodesCheckCommand(nodes: Command): void {
  addConnectOptions(
    nodes
      .command('check')
      .description('inspect a machine; writes nothing there')
      .argument('<name>', 'its name, or this-computer'),
  )
    .option('--json', 'print one line of JSON', false)
    .action(async (name: string, flags: ConnectFlags & { readonly json: boolean }) => {
      const seen = await withWorkspace<Preflight>(
        ({ inventory }) => inventory.check(name),
        connectOptions(flags),
      );
      process.stdout.write(
        flags.json ? `${JSON.stringify(seen)}\n` : `${preflightText(name, seen)}\n`,
      );
      if (seen.findings.some(({ level }) => level === 'error')) process.exitCode = 1;
    });
}
