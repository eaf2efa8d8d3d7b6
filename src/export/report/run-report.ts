/**
 * The report of a run: what the page says of it, in one file. Its verdict, effects of switches and
 * numbers come from the same functions and records as the page's.
 */
import { machineTitle } from '../../shared/machines/machine-names.ts';
import { describeEmulated } from '../../shared/machines/emulated-network.ts';
import { labelBeside } from '../../shared/plan/exchange-plan.ts';
import { backendText } from '../../shared/records/backend-text.ts';
import { CHART_FIELDS } from '../../shared/records/iteration.ts';
import { ACCURACY, describeMetric, NO_METRIC } from '../../shared/records/metric.ts';
import { PHASES } from '../../shared/records/phases.ts';
import {
  describeGpus,
  describePlaces,
  rankProcesses,
} from '../../shared/records/rank-places.ts';
import { eventText } from '../../shared/records/record-kinds.ts';
import { workloadName } from '../../shared/spec/model-name.ts';
import { isOpenEnded } from '../../shared/spec/program-spec.ts';
import type { Verdict } from '../../shared/verdict/verdict.ts';
import { capitalized } from '../../shared/words/capitalized.ts';
import { describeMeasure, measureAround } from '../../shared/verdict/measure-around.ts';
import {
  describeEffect,
  describeForeseen,
} from '../../shared/verdict/switch-effect.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatElapsed,
  formatPercent,
  formatQuantity,
} from '../../shared/words/units.ts';
import type { Block, Report } from './document.ts';
import { meanOf } from './run-bins.ts';
import { runPictures } from './run-pictures.ts';
import type { ReportedRun } from './reported-run.ts';
import { utcMoment } from './utc-moment.ts';

/** @param made the program that makes it, with its version */
export function runReport(run: ReportedRun, made: string): Report {
  const { detail } = run;
  return {
    title: detail.name,
    about: `Run ${detail.id}, ${detail.state}, ${doneText(run)}.`,
    sections: [
      { title: 'Verdict', blocks: verdictBlocks(run) },
      { title: 'The run', blocks: [{ kind: 'facts', facts: factsOf(run) }] },
      { title: 'Switches', blocks: switchBlocks(run) },
      {
        title: 'Charts',
        blocks: runPictures({
          iterations: detail.iterations,
          bins: run.bins,
          evaluations: evaluationsOf(run),
          metric: detail.metricKind ?? ACCURACY,
          markers: switchesOf(run).map(({ fence, from, to }) => ({
            x: fence - 0.5,
            label: labelBeside(to, from),
          })),
        }).map((picture) => ({ kind: 'picture', picture })),
      },
      { title: 'Mean of an iteration', blocks: meanBlocks(run) },
      { title: 'Evaluations', blocks: evaluationBlocks(run) },
      { title: 'Configuration', blocks: [{ kind: 'code', text: run.yaml }] },
      { title: 'Events', blocks: eventBlocks(run) },
    ],
    made,
  };
}

const doneText = ({ detail }: ReportedRun): string =>
  `${formatCount(detail.iterations)}${isOpenEnded(detail.iterationsPlanned) ? '' : ` of ${formatCount(detail.iterationsPlanned)}`} iterations`;

const switchesOf = ({ detail }: ReportedRun) =>
  detail.events.filter((event) => event.type === 'switch');

const evaluationsOf = ({ detail }: ReportedRun) =>
  detail.events.filter((event) => event.type === 'evaluation');

function verdictBlocks({ detail, verdict }: ReportedRun): readonly Block[] {
  const { error } = detail;
  return [
    ...(verdict === undefined
      ? [{ kind: 'text' as const, text: 'Too few iterations for a verdict.' }]
      : provedBlocks(verdict)),
    ...(error === undefined
      ? []
      : [
          {
            kind: 'text' as const,
            text: `${error.code}: ${error.message}.${error.next === undefined ? '' : ` ${error.next}`}`,
          },
        ]),
  ];
}

/** The sentences, and a table of what each rests on. */
const provedBlocks = ({ basis, statements }: Verdict): readonly Block[] => [
  {
    kind: 'lead',
    text: statements.map(({ text }) => `${capitalized(text)}.`).join(' '),
  },
  {
    kind: 'table',
    head: ['Statement', 'How it follows', 'Numbers'],
    rows: statements.map(({ proof, text }) => [
      capitalized(text),
      proof.formula,
      proof.terms.map(({ name, value }) => `${name}: ${value}`).join('; '),
    ]),
    texts: [0, 1, 2],
  },
  { kind: 'text', text: `Numbers: ${basis}, with 95 % intervals.` },
];

function factsOf({ detail }: ReportedRun): readonly (readonly [string, string])[] {
  const { events, loss, metric, metricKind } = detail;
  const started = events.find((event) => event.type === 'started');
  const processes = rankProcesses(events);
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Workload', workloadName(detail)],
    ['Created', utcMoment(detail.createdAt)],
    [
      'Took',
      detail.endedAt === undefined
        ? undefined
        : formatElapsed(detail.endedAt - detail.createdAt),
    ],
    ['Loss', loss === undefined ? undefined : formatQuantity(loss)],
    [
      'Result',
      metric === undefined || metricKind?.id === NO_METRIC.id
        ? undefined
        : describeMetric(metric, metricKind),
    ],
    ['Ranks', formatCount(detail.ranks)],
    [
      'Machines',
      describePlaces(processes, detail.nodes) ??
        detail.nodes.map(machineTitle).join(', '),
    ],
    ['GPUs', describeGpus(processes)],
    ['Computes with', started && backendText(started)],
    ['Parameters', started && formatCount(started.parameters)],
    [
      'Network',
      started?.emulated === undefined
        ? 'as it is, not emulated'
        : describeEmulated(started.emulated),
    ],
    ['Methods', detail.methods.join(', ')],
    ['Seed', String(detail.spec.seed)],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

function switchBlocks(run: ReportedRun): readonly Block[] {
  const { events, metricKind = ACCURACY } = run.detail;
  const switches = switchesOf(run);
  const rows = switches.map((event, index) => {
    const around = measureAround(events, event.fence, switches[index + 1]?.fence);
    const effect = run.effects.get(event.epoch);
    return [
      formatCount(event.fence),
      eventText(event).text,
      effect === undefined ? 'too few iterations beside it' : describeEffect(effect),
      effect === undefined || event.foreseen === undefined
        ? ''
        : describeForeseen(event.foreseen, effect),
      around === undefined ? '' : describeMeasure(around, metricKind),
    ];
  });
  if (rows.length === 0) return [];
  return [
    {
      kind: 'table',
      head: [
        'Iteration',
        'Switch',
        'Effect, medians before and after',
        'Prediction',
        'Measure',
      ],
      rows,
      texts: [1, 2, 3, 4],
    },
  ];
}

function meanBlocks({ bins }: ReportedRun): readonly Block[] {
  const wall = meanOf(bins, 'wall');
  if (wall === undefined) return [];
  const phases = PHASES.flatMap((phase) => {
    const mean = meanOf(bins, phase);
    return mean === undefined || mean === 0
      ? []
      : [[phase, formatDuration(mean), formatPercent(mean / wall)]];
  });
  const bytes = (
    [
      ['dense gradient', 'dense'],
      ['payload', 'payload'],
      ['sent on the wire', 'wireSent'],
      ['received on the wire', 'wireReceived'],
    ] as const
  ).flatMap(([title, field]) => {
    const mean = meanOf(bins, field);
    return mean === undefined ? [] : [[title, formatBytes(mean), '']];
  });
  return [
    {
      kind: 'table',
      head: ['Over all ranks and iterations', 'mean', 'share'],
      rows: [
        ...phases,
        ['whole iteration', formatDuration(wall), ''],
        [CHART_FIELDS.overlapped.title, formatDuration(meanOf(bins, 'overlapped')), ''],
        ...bytes,
      ],
    },
  ];
}

/** Rows of a table of evaluations, at most: the first and the newest. */
const MOST_EVALUATIONS = 100;

function evaluationBlocks(run: ReportedRun): readonly Block[] {
  const all = evaluationsOf(run);
  if (all.length === 0) return [];
  const kind = run.detail.metricKind ?? ACCURACY;
  const shown =
    all.length <= MOST_EVALUATIONS
      ? all
      : [all[0]!, ...all.slice(1 - MOST_EVALUATIONS)];
  return [
    ...(shown.length === all.length
      ? []
      : [
          {
            kind: 'text' as const,
            text: `The first and the last ${formatCount(MOST_EVALUATIONS - 1)} of ${formatCount(all.length)}; an export has all.`,
          },
        ]),
    {
      kind: 'table',
      head: ['Iteration', 'loss', kind.title, 'samples', 'took'],
      rows: shown.map(({ averaged, iteration, loss, metric, samples, wall }) => [
        formatCount(iteration),
        formatQuantity((averaged ?? { loss }).loss),
        describeMetric((averaged ?? { metric }).metric, kind).slice(
          kind.title.length + 1,
        ),
        formatCount(samples),
        formatDuration(wall),
      ]),
      texts: [],
    },
  ];
}

/** Events other than evaluations, which have their own table. */
function eventBlocks({ detail }: ReportedRun): readonly Block[] {
  const { omittedEvents = 0 } = detail;
  return [
    ...(omittedEvents === 0
      ? []
      : [
          {
            kind: 'text' as const,
            text: `${formatCount(omittedEvents)} earlier measurements and notices are left out; an export has all.`,
          },
        ]),
    {
      kind: 'table',
      head: ['When', 'Iteration', 'What', ''],
      rows: detail.events
        .filter(({ type }) => type !== 'evaluation')
        .map((event) => {
          const { iteration, text, title } = eventText(event);
          return [
            new Date(event.at).toISOString().slice(0, 19).replace('T', ' '),
            iteration === undefined ? '' : formatCount(iteration),
            title,
            text,
          ];
        }),
      texts: [0, 2, 3],
    },
  ];
}
