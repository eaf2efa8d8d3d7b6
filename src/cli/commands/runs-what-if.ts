/** `gradwire runs what-if`: recorded iterations under another exchange, network or world. */
import type { Command } from 'commander';
import { loadNetworkProfile } from '../../main/home/network-profile-file.ts';
import { Forecaster } from '../../main/plan/forecaster.ts';
import { knownNetwork } from '../../main/plan/known-network.ts';
import { whatIf } from '../../main/plan/what-if.ts';
import { parseParameters } from '../../main/spec/settings.ts';
import { MOST_PLANNED_RANKS } from '../../shared/forecast/plan-request.ts';
import {
  FEWEST_REPLAYED,
  MOST_REPLAYED,
  REPLAYED,
  type WhatIf,
} from '../../shared/forecast/what-if.ts';
import { wallOf } from '../../shared/forecast/replay.ts';
import { linkSpecSchema } from '../../shared/machines/emulated-network.ts';
import { inputError } from '../../shared/errors/errors.ts';
import {
  formatBytes,
  formatDuration,
  formatPercent,
} from '../../shared/words/units.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';
import { countBetween } from '../text/parse-count.ts';
import { textTable } from '../text/text-table.ts';

interface WhatIfFlags {
  readonly ranks?: number;
  readonly machines?: number;
  readonly bandwidth?: string;
  readonly latency?: string;
  readonly iterations: number;
  readonly json: boolean;
}

export function addRunsWhatIfCommand(runs: Command): void {
  runs
    .command('what-if')
    .description(
      'replay recorded iterations under another method, ratio, collective, network or number of ranks',
    )
    .argument('<run>', 'its id or the start of it, or last')
    .argument('[key=value...]', 'for example method=topk ratio=0.01')
    .option(
      '--ranks <n>',
      'ranks; default: the run’s',
      countBetween(1, MOST_PLANNED_RANKS),
    )
    .option(
      '--machines <n>',
      'equal machines that share the ranks; default: the run’s',
      countBetween(1, MOST_PLANNED_RANKS),
    )
    .option(
      '--bandwidth <rate>',
      'bandwidth of each rank’s link, such as "1 Gbit/s"; default: the run’s network',
    )
    .option('--latency <time>', 'its one-way latency, such as "50 µs"; default: 0 s')
    .option(
      '--iterations <n>',
      `newest iterations of the plan in force, ${FEWEST_REPLAYED} to ${MOST_REPLAYED}`,
      countBetween(FEWEST_REPLAYED, MOST_REPLAYED),
      REPLAYED,
    )
    .option(...JSON_ANSWER)
    .action(async (name: string, settings: readonly string[], flags: WhatIfFlags) => {
      const change = parseParameters(settings, 'runs what-if');
      const network = linkOf(flags);
      await withWorkspace(async ({ coordinator, home, store }) => {
        await catchUp(coordinator);
        const { iterations, machines, ranks } = flags;
        using forecaster = new Forecaster(home);
        const own = await loadNetworkProfile(home.networkProfile);
        const found = await whatIf(
          store,
          {
            run: resolveRun(store, name),
            change,
            ranks,
            machines,
            network,
            iterations,
          },
          {
            forecaster,
            measured: async (spec) =>
              knownNetwork(spec, { coordinator, home, store, own }),
          },
        );
        answer(flags.json, found, whatIfLines(found));
      });
    });
}

/** @throws GradwireError `NETWORK_LINK_INVALID` */
function linkOf({
  bandwidth,
  latency,
}: Pick<WhatIfFlags, 'bandwidth' | 'latency'>):
  { readonly bandwidth: string; readonly latency: string } | undefined {
  if (bandwidth === undefined) {
    if (latency === undefined) return undefined;
    throw inputError('NETWORK_LINK_INVALID', '--latency is given without a bandwidth', {
      place: '--latency',
      next: 'Give --bandwidth too, such as --bandwidth "1 Gbit/s".',
    });
  }
  const parsed = linkSpecSchema.safeParse({
    bandwidth: asNumber(bandwidth),
    latency: asNumber(latency),
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = String(issue?.path[0]);
  throw inputError('NETWORK_LINK_INVALID', `--${key} ${issue?.message}`, {
    place: `--${key}`,
    next: 'Write it as --bandwidth "1 Gbit/s" --latency "50 µs".',
  });
}

/** Bit/s and seconds need no unit, as in a spec. */
const asNumber = (text: string | undefined): number | string | undefined =>
  text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;

function whatIfLines(found: WhatIf): string {
  const { collectives, first, from, last, name, networks, payloadBytes, ranks } = found;
  const { recorded, replayed } = found.steps;
  const mean = (steps: typeof recorded, of: (step: (typeof recorded)[0]) => number) =>
    formatDuration(steps.reduce((sum, step) => sum + of(step), 0) / steps.length);
  const row = (
    title: string,
    steps: typeof recorded,
    which: 0 | 1,
  ): readonly string[] => [
    title,
    mean(steps, wallOf),
    mean(steps, ({ own }) => own),
    mean(steps, ({ compress }) => compress),
    mean(steps, ({ exchange }) => exchange),
    mean(steps, ({ decompress }) => decompress),
    formatBytes(payloadBytes[which]),
    collectives[which],
  ];
  const [left, right] = ['left', 'right'] as const;
  const table = textTable(
    [
      [
        '',
        'step',
        'own work',
        'compress',
        'exchange',
        'decompress',
        'payload',
        'collective',
      ],
      row('recorded', recorded, 0),
      row('replayed', replayed, 1),
    ],
    [left, right, right, right, right, right, right, left],
  );
  const world =
    ranks[0] === ranks[1] ? `${ranks[0]} ranks` : `${ranks[0]} → ${ranks[1]} ranks`;
  const network =
    networks[0] === networks[1] ? networks[0] : `${networks[0]} → ${networks[1]}`;
  const switches = found.switches.map(
    ({ error, fence, from: before, observed, predicted, to }) =>
      `at iteration ${fence}, ${before} → ${to}: a replay would have said ` +
      `${formatDuration(predicted.mean)}, ${formatDuration(observed)} was measured ` +
      `(${error < 0 ? '−' : '+'}${formatPercent(Math.abs(error))})`,
  );
  return (
    `${name}: iterations ${first} to ${last} under ${from}; ${world}; network: ${network}\n\n` +
    `${table}\n\n${found.text}\n${switches.map((line) => `${line}\n`).join('')}`
  );
}
