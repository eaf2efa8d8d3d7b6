/** `gradwire nodes network`: latency and bandwidth between machines, measured now. */
import { machineTitle } from '../../shared/machines/machine-names.ts';
import type { Command } from 'commander';
import { formatError, inputError } from '../../shared/errors/errors.ts';
import type { LinkStatus, PairOutcome } from '../../shared/machines/link-status.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import {
  portRange,
  portRangeSchema,
  type PortRange,
} from '../../shared/machines/port-range.ts';
import { slowLinks } from '../../shared/cost-model/slow-links.ts';
import { pairsOf } from '../../main/cluster/link-check.ts';
import { surveyLinks } from '../../main/runs/link-survey.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { withWorkspace } from '../session/workspace.ts';
import { deployPrinter } from '../text/deploy-progress.ts';
import { linkMatrix } from '../text/link-matrix.ts';

interface NetworkFlags extends ConnectFlags {
  readonly whileRunning: boolean;
  readonly json: boolean;
  readonly ports?: string;
}

const EXIT_CANCELLED = 130;

export function addNodesNetworkCommand(nodes: Command): void {
  addConnectOptions(
    nodes
      .command('network')
      .summary('measure latency and bandwidth between machines')
      .description(
        'Measure latency and bandwidth between machines, pair by pair, as ranks there ' +
          'would see them. The result is stored; runs over several machines and gradwire ' +
          'plan use it to choose collectives.',
      )
      .argument(
        '[names...]',
        'machines; default: this computer and all others but Slurm clusters',
      ),
  )
    .option(
      '--while-running',
      'measure even while runs are in progress: this disturbs them, and the result is not stored',
      false,
    )
    .option(
      '--ports <range>',
      'ports that this computer may listen on, such as 20000-20100',
    )
    .option('--json', 'one line of JSON per pair', false)
    .action(async (names: readonly string[], flags: NetworkFlags) => {
      const outcomes = await measure(names, flags);
      if (flags.json) return;
      const links = outcomes.flatMap((outcome) => outcome.links);
      const shown = [...new Set(outcomes.flatMap((outcome) => outcome.nodes))];
      if (shown.length === 0) return;
      const lines = [
        linkMatrix(shown, links),
        ...slowLinks(links),
        ...troubles(outcomes),
      ];
      process.stdout.write(`${lines.join('\n')}\n`);
    });
}

async function measure(
  asked: readonly string[],
  { json, whileRunning, ports: text, ...flags }: NetworkFlags,
): Promise<readonly PairOutcome[]> {
  const ports = parsePorts(text);
  const controller = new AbortController();
  const cancel = (): void => {
    controller.abort();
    process.exitCode = EXIT_CANCELLED;
  };
  process.once('SIGINT', cancel);
  process.once('SIGTERM', cancel);
  const { signal } = controller;
  const outcomes: PairOutcome[] = [];
  await withWorkspace(
    async ({ store, inventory, coordinator }) => {
      const names = asked.length === 0 ? inventory.linked() : [...new Set(asked)];
      const links = names.map((name) => coordinator.machines.node(name));
      if (names.length < 2) {
        throw inputError(
          'NODES_TOO_FEW',
          `measuring links needs at least two machines, not ${names.length}`,
          {
            next:
              asked.length === 0
                ? 'Add a machine: gradwire nodes add.'
                : `Name another machine, or ${LOCAL_NODE}.`,
          },
        );
      }
      const pairs = pairsOf(names).length;
      const begins = ([a, b]: readonly [string, string], index: number): void => {
        process.stderr.write(`measuring ${titled(a, b)} (${index + 1} of ${pairs})\n`);
      };
      const options = { whileRunning, ports, signal, begins };
      const survey = surveyLinks(store.links, links, options);
      for await (const outcome of survey) {
        outcomes.push(outcome);
        if (json) process.stdout.write(`${JSON.stringify(outcome)}\n`);
        if (hasFailed(outcome)) process.exitCode = 1;
      }
    },
    { ...connectOptions(flags), progress: deployPrinter() },
  );
  return outcomes;
}

const titled = (a: string, b: string): string =>
  `${machineTitle(a)} – ${machineTitle(b)}`;
const failureOf = ({ links }: PairOutcome): LinkStatus['failure'] => links[0].failure;
const wasMeasured = ({ links }: PairOutcome): boolean => links[0].measure !== undefined;
const hasFailed = (outcome: PairOutcome): boolean => !wasMeasured(outcome);

function troubles(outcomes: readonly PairOutcome[]): readonly string[] {
  return outcomes.flatMap((outcome) => {
    const [a, b] = outcome.nodes;
    const failed = failureOf(outcome);
    if (failed !== undefined) return [`${titled(a, b)}: ${formatError(failed.error)}`];
    if (outcome.runs.length === 0) return [];
    const runs = outcome.runs
      .map(({ node, run }) => `run ${run} on ${machineTitle(node)}`)
      .join(', ');
    return wasMeasured(outcome)
      ? [
          `${titled(a, b)}: measured while ${runs} ${outcome.runs.length === 1 ? 'was' : 'were'} in progress; not stored`,
        ]
      : [
          `${titled(a, b)}: busy with ${runs}; measure once it has ended, or add ` +
            '--while-running, which disturbs it.',
        ];
  });
}

/** @throws GradwireError `PORTS_INVALID` */
function parsePorts(text: string | undefined): PortRange | undefined {
  if (text === undefined) return undefined;
  const parsed = portRangeSchema.safeParse(text);
  if (parsed.success) return portRange(parsed.data);
  throw inputError(
    'PORTS_INVALID',
    `--ports is "${text}": ${parsed.error.issues[0]!.message}`,
    {
      next: 'Write it as --ports 20000-20100.',
    },
  );
}
