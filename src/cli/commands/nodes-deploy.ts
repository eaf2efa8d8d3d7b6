/** `gradwire nodes deploy`: deploy the agent now; a run does so by itself. */
import type { Command } from 'commander';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { withWorkspace } from '../session/workspace.ts';
import { deployPrinter } from '../text/deploy-progress.ts';
import { reportError } from '../text/report-error.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';

const EXIT_INTERRUPTED = 130;

export function addNodesDeployCommand(nodes: Command): void {
  addConnectOptions(
    nodes
      .command('deploy')
      .description('deploy the agent to a machine; a run does this automatically')
      .argument('<name>', 'its name')
      .option(...JSON_ANSWER),
  ).action(async (name: string, flags: ConnectFlags & { readonly json: boolean }) => {
    await withWorkspace(
      async ({ store, inventory }) => {
        const began = performance.now();
        // Ctrl-C leaves nothing half uploaded.
        const controller = new AbortController();
        process.once('SIGINT', () => {
          controller.abort();
        });
        const { signal } = controller;
        const deployed = await inventory
          .remote(store.nodes.named(name))
          .deploy({ signal })
          .catch((error: unknown) => {
            if (!signal.aborted) throw error;
            reportError(error);
            return undefined;
          });
        if (deployed === undefined) {
          process.exitCode = EXIT_INTERRUPTED;
          return;
        }
        const { uploaded, agent } = deployed;
        const seconds = ((performance.now() - began) / 1000).toFixed(1);
        const mebibytes = (uploaded / 2 ** 20).toFixed(1);
        answer(
          flags.json,
          { deployed: name, agent, uploadedBytes: uploaded },
          uploaded === 0
            ? `${name}: agent ${agent} was already there (${seconds} s)\n`
            : `${name}: agent ${agent}, ${mebibytes} MiB uploaded in ${seconds} s\n`,
        );
      },
      { ...connectOptions(flags), progress: deployPrinter() },
    );
  });
}
