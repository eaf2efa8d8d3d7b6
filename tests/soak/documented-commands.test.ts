/**
 * The commands of the documents, typed one after another as they stand there, in a place with
 * the files and the machine that they name: each ends well. `tests/unit/cli` parses all of
 * them; here they run, but for those that `LEFT_OUT` names, with a reason.
 */
import { expect, test } from 'vitest';
import { existsSync } from 'node:fs';
import os from 'node:os';
import { pytorch } from '../harness/python.ts';
import { passwordsMissing } from '../harness/sshd.ts';
import { documents, linesIn } from '../harness/documented-commands.ts';
import { DocumentedSite } from './documented-site.ts';

interface Reason {
  readonly line: RegExp;
  readonly why: string;
}

const LEFT_OUT: readonly Reason[] = [
  {
    line: /^npm (ci|start|run pack|install)\b/,
    why: 'installs: tests/integration/installation',
  },
  { line: /^npm run dist\b/, why: 'downloads Electron: tests/soak/dist' },
  { line: /^npm (test|run (lint|check))\b/, why: 'is what runs here' },
  {
    line: /^tensorboard /,
    why: 'serves until it is ended: tests/integration/cli reads its files',
  },
  { line: /^gradwire start$/, why: 'opens a window' },
  { line: /data fetch/, why: 'downloads from a data set’s host' },
  { line: /\bsudo\b/, why: 'shapes links of this machine, for minutes' },
  {
    line: /^npm exec -- node (bench|scripts)/,
    why: 'measures for minutes, from the sources',
  },
  {
    line: /gradwire (-- )?bench (app|history|compress|collectives|training)/,
    why: 'measures for minutes',
  },
  {
    line: /reproduce (--all|--quick|sparcml|a2sgd|table)/,
    why: 'takes minutes to hours: tests/integration/cli/reproduce',
  },
  { line: /--slurm|nodes=\[hpc\]/, why: 'needs a Slurm cluster: tests/soak/slurm' },
  { line: /^sh gpu-kit/, why: 'needs a machine with a GPU' },
  {
    line: /path\/to|supervisor\/main\.ts|run spec\.yaml/,
    why: 'has paths to fill in: tests/integration/extending',
  },
  ...(existsSync('/usr/bin/fish')
    ? []
    : [{ line: /completion fish/, why: 'needs fish' }]),
  ...(existsSync('/usr/bin/zsh') ? [] : [{ line: /completion zsh/, why: 'needs zsh' }]),
  ...(pytorch === undefined ? [{ line: /python3/, why: 'needs PyTorch' }] : []),
];

/** Words that a reader fills in, or has of his own. */
const FILLED_IN: Record<string, string> = {
  '--user me': `--user ${os.userInfo().username}`,
  'RUN1 RUN2': '"$(run_id 1)" "$(run_id 2)"',
  'last 4w5m': '"$(run_id 1)" "$(run_id 2)"',
  'eval "$(gradwire completion zsh)"':
    'zsh -fc \'autoload -U compinit && compinit -u && eval "$(gradwire completion zsh)"\'',
  'gradwire completion fish | source': "fish -c 'gradwire completion fish | source'",
  '3k2 x81 9fd': '"$(run_id 1)" "$(run_id 2)" "$(run_id 3)"',
};

/** A run that waits for a job which is started elsewhere: a second shell starts it. */
const AWAITING = 'gradwire exec --external --ranks 2 --method topk';
FILLED_IN[AWAITING] =
  `${AWAITING} > said 2>&1 & until grep -q GRADWIRE_RUN said; do sleep 1; done; ` +
  'PYTHONPATH="$GRADWIRE_PACKAGE" torchrun --nproc-per-node 2 train.py; wait $!';

const A_RUN = 'gradwire run digits-topk --set iterations=40';

/** Lines that a document takes for granted: they come first, by the line that they precede. */
const GIVEN: Readonly<Record<string, string>> = {
  'docs/command-line.md npm run -s gradwire -- compare': Array.from(
    { length: 3 },
    (_, seed) => `gradwire run digits-topk --set iterations=40 --set seed=${seed}`,
  ).join(' && '),
  'docs/cluster.md gradwire bench network': 'gradwire nodes edit crate --name box',
  // A note is pinned to iteration 120.
  'docs/command-line.md gradwire runs list --filter':
    'gradwire run digits-topk --set iterations=150',
  'docs/exports.md npm run -s gradwire -- runs export last --format parquet --out': `${A_RUN} && ${A_RUN}`,
  'docs/verdict.md npm run -s gradwire -- runs verdict': A_RUN,
  ...(pytorch === undefined ? { 'docs/pytorch.md gradwire runs verdict': A_RUN } : {}),
  'docs/verdict.md npm run -s gradwire -- runs switch last':
    'gradwire run quickstart --set iterations=100000 --detach; sleep 10',
  'docs/installation.md npm run -s gradwire -- runs export':
    'gradwire run quickstart --set iterations=5',
};

/** The length of a run that a document does not cut itself; a full one is another test's. */
const SHORT = 20;

function typed(line: string): string {
  let words = line;
  for (const [from, to] of Object.entries(FILLED_IN)) words = words.replace(from, to);
  const runs =
    /gradwire (-- )?run /.test(words) && !words.includes('--set iterations=');
  return runs ? words.replace(/(?=$|\s+#)/, ` --set iterations=${SHORT}`) : words;
}

const reasonOf = (line: string): Reason | undefined =>
  LEFT_OUT.find((reason) => reason.line.test(line));
const lines = new Map(documents.map((document) => [document, linesIn(document)]));
const withCommands = documents.filter((document) =>
  lines.get(document)!.some((line) => reasonOf(line) === undefined),
);

test('every reason to leave a command out applies to one', () => {
  const all = [...lines.values()].flat();
  const idle = LEFT_OUT.filter(({ line }) => !all.some((one) => line.test(one)));
  expect(idle).toEqual([]);
  expect(all.filter((line) => reasonOf(line) === undefined).length).toBeGreaterThan(40);
});

test.skipIf(passwordsMissing() !== undefined).each(withCommands)(
  '%s',
  async (document) => {
    await using site = await DocumentedSite.start();
    const failed: string[] = [];
    for (const line of lines.get(document)!) {
      if (reasonOf(line) !== undefined) continue;
      const given = Object.entries(GIVEN).find(([before]) =>
        `${document} ${line}`.startsWith(before),
      );
      if (given !== undefined) await site.type(given[1]);
      const { code, stderr } = await site.type(typed(line));
      if (code !== 0) failed.push(`${line}\n  ${code}: ${stderr.slice(-500)}`);
    }
    expect(failed).toEqual([]);
  },
);
