/**
 * All results as one Markdown document. It generates docs/reproduced.md, which is not edited
 * by hand.
 */
import { formatPercent } from '../../shared/words/units.ts';
import { historyOf } from '../figures/history.ts';
import type { Verdict } from '../judgement.ts';
import type { Result } from '../result.ts';
import { chanceText, ruleChangedText } from './verdict-text.ts';
import { whatWouldChange } from './what-would-change.ts';

const HEADER = `# Reproduced figures

Figures and tables of the papers, repeated by real rank processes: at laptop scale, where no row says otherwise.
\`gradwire reproduce table\` generates this page from the results of \`gradwire reproduce\`; do not
edit it. A verdict is about the direction of a claim at this scale, by a rule that was stated before the runs where
no section says otherwise ([what it means](decisions/088-judging.md)); what holds by construction is checked, not confirmed. The page
that the command writes has the rule, the settings and where they come from, the chart, every run, and the
differences from the paper. Beside each part of a rule stand the mean over the seeds, the interval in which it lies nine
times in ten, the means from which on the part is true and false, and how far from the latter a true mean has to be
for the part to hold in four of five such sweeps ("visible here"). All results are in the sources (\`docs/reproduced\`); figures
that have none by their settings of today are listed as not measured
([what was changed](decisions/050-reproductions.md#rules-that-were-changed)).
`;

/** A figure's part of the document: a row of its table, and a section. */
export interface Entry {
  readonly figure: string;
  readonly verdict: Verdict;
  readonly row: string;
  readonly section: string;
}

/**
 * @param results in the order of the rows
 * @param missing ids of figures without a result
 */
export const resultsDocument = (
  results: readonly Result[],
  missing: readonly string[] = [],
): string => documentOf(results.map(entryOf), missing);

/** The document of entries, those of earlier documents among them. */
export function documentOf(
  entries: readonly Entry[],
  missing: readonly string[],
): string {
  const header = ['figure', 'claim', 'here', 'verdict', 'measured'];
  const rows = entries.map(({ row }) => row);
  const table = [line(header), line(header.map(() => '---')), ...rows].join('\n');
  const ids = missing.map((id) => `\`${id}\``).join(', ');
  const unmeasured = missing.length === 0 ? '' : `\nNot measured yet: ${ids}.\n`;
  const sections = entries.map(({ section }) => section).join('');
  return `${HEADER}\n${summary(entries)}\n\n${table}\n${unmeasured}${sections}`;
}

const VERDICTS: readonly Verdict[] = ['confirmed', 'refuted', 'undecided', 'checked'];

/** The number of results with each verdict. */
function summary(entries: readonly Entry[]): string {
  const counts = VERDICTS.map((verdict) => {
    return `${entries.filter((entry) => entry.verdict === verdict).length} ${verdict}`;
  });
  return `${entries.length} results: ${counts.join(', ')}.`;
}

export const entryOf = (result: Result): Entry => ({
  figure: result.figure,
  verdict: result.verdict,
  row: line([
    `${result.paper.name}, ${result.number}${result.full === undefined ? '' : ', the paper’s sizes'}: \`${result.figure}\``,
    result.claim.text,
    result.ours,
    `**${result.verdict}**`,
    `${date(result)}; ${device(result)}`,
  ]),
  section: sectionOf(result),
});

/** The entries of a document that `documentOf` has made. */
export function entriesIn(document: string): readonly Entry[] {
  const [head, ...sections] = document.split(/^(?=## )/m);
  const rows = new Map(
    head!.split('\n').flatMap((row) => {
      const figure = /^\| [^|]*: `([\w-]+)` \|/.exec(row)?.[1];
      const verdict = VERDICTS.find((one) => row.includes(`| **${one}** |`));
      return figure === undefined || verdict === undefined
        ? []
        : [[figure, { row, verdict }] as const];
    }),
  );
  return sections.flatMap((section) => {
    const figure = /^## (.*)/.exec(section)![1]!;
    const row = rows.get(figure);
    return row === undefined
      ? []
      : [{ figure, ...row, section: `\n${section.trimEnd()}\n` }];
  });
}

const FULL = /-full$/;

/** Figures in the order of some ids; that at full scale follows its own, and unknown ones come last. */
export function inOrder<T extends { readonly figure: string }>(
  all: readonly T[],
  ids: readonly string[],
): readonly T[] {
  const place = ({ figure }: T): number => {
    const index = ids.indexOf(figure.replace(FULL, ''));
    if (index < 0) return ids.length;
    return FULL.test(figure) ? index + 0.5 : index;
  };
  return all.toSorted((a, b) => place(a) - place(b));
}

function sectionOf(result: Result): string {
  const { figure, claim, findings, ruleChangedAt } = result;
  const quoted = claim.quoted.map(({ text, where }) => `- ${text} (${where})`);
  const found = findings.flatMap(({ kind, measured, obstacle, outcome, text }) => [
    `- ${outcome}: ${kind === 'claim' ? '' : `(${kind}) `}${text}` +
      (obstacle === undefined ? '' : ` (${obstacle})`),
    ...measured.map(
      (one) => `  - ${one.name === undefined ? '' : `${one.name}: `}${one.text}`,
    ),
  ]);
  const chance = chanceText(result);
  const history = historyOf(result);
  return (
    `\n## ${figure}\n\nThe paper:\n\n${quoted.join('\n')}\n\n` +
    `The rule, part by part:\n\n${found.join('\n')}\n` +
    (chance === undefined ? '' : `\n${chance}\n`) +
    (ruleChangedAt === undefined ? '' : `\n${ruleChangedText(ruleChangedAt)}\n`) +
    `\nWhat would change the verdict:\n\n${whatWouldChange(result)
      .map((one) => `- ${one}\n`)
      .join('')}` +
    (history.length === 0
      ? ''
      : `\nEarlier verdicts:\n\n${history.map((one) => `- ${one}\n`).join('')}`)
  );
}

const line = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replace(/\s+/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;

function device({ device: { processor, cores, load }, runs }: Result): string {
  const busy = load === undefined ? '' : `, load ${load.toFixed(1)} before`;
  const shares = runs.flatMap(({ others }) => (others === undefined ? [] : [others]));
  const beside =
    shares.length === 0
      ? ''
      : `, other work at most ${formatPercent(Math.max(...shares))}`;
  const byTorch = runs.some(({ backend }) => backend?.startsWith('torch'));
  return `${processor}, ${cores} logical processors${busy}${beside}${byTorch ? ', by PyTorch' : ''}`;
}

const date = ({ measuredAt }: Result): string =>
  new Date(measuredAt).toISOString().slice(0, 10);
