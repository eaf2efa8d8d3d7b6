/**
 * All results as one Markdown document. It generates docs/reproduced.md, which is not edited
 * by hand.
 */
import type { Result } from '../result.ts';
import { chanceText } from './verdict-text.ts';

const HEADER = `# Reproduced figures

Figures and tables of the papers, repeated at laptop scale by real rank processes.
\`gradwire reproduce table\` generates this page from the results of \`gradwire reproduce\`; do not
edit it. A verdict is about the direction of a claim at this scale, by a rule stated before the runs
([what it means](decisions/088-judging.md)); what holds by construction is checked, not confirmed. The page
that the command writes has the rule, the settings and where they come from, the chart, every run, and the
differences from the paper. Figures that have not been repeated since these rules were written are listed
as not measured: their earlier results are void.
`;

/**
 * @param results in the order of the rows
 * @param missing ids of figures without a result
 */
export function resultsDocument(
  results: readonly Result[],
  missing: readonly string[] = [],
): string {
  const header = ['figure', 'claim', 'here', 'verdict', 'measured'];
  const rows = results.map((result) => [
    `${result.paper.name}, ${result.number}: \`${result.figure}\``,
    result.claim.text,
    result.ours,
    `**${result.verdict}**`,
    `${date(result)}; ${device(result)}`,
  ]);
  const table = [header, header.map(() => '---'), ...rows].map(line).join('\n');
  const ids = missing.map((id) => `\`${id}\``).join(', ');
  const unmeasured = missing.length === 0 ? '' : `\nNot measured yet: ${ids}.\n`;
  return `${HEADER}\n${table}\n${unmeasured}${results.map(section).join('')}`;
}

function section({ figure, claim, falseVerdict, findings }: Result): string {
  const quoted = claim.quoted.map(({ text, where }) => `- ${text} (${where})`);
  const found = findings.flatMap(({ kind, measured, obstacle, outcome, text }) => [
    `- ${outcome}: ${kind === 'claim' ? '' : `(${kind}) `}${text}` +
      (obstacle === undefined ? '' : ` (${obstacle})`),
    ...measured.map(
      (one) => `  - ${one.name === undefined ? '' : `${one.name}: `}${one.text}`,
    ),
  ]);
  const chance = chanceText(falseVerdict);
  return (
    `\n## ${figure}\n\nThe paper:\n\n${quoted.join('\n')}\n\n` +
    `The rule, part by part:\n\n${found.join('\n')}\n` +
    (chance === undefined ? '' : `\n${chance}\n`)
  );
}

const line = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replace(/\s+/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;

function device({ device: { processor, cores, load }, runs }: Result): string {
  const busy = load === undefined ? '' : `, load ${load.toFixed(1)} before`;
  const byTorch = runs.some(({ backend }) => backend?.startsWith('torch'));
  return `${processor}, ${cores} logical processors${busy}${byTorch ? ', by PyTorch' : ''}`;
}

const date = ({ measuredAt }: Result): string =>
  new Date(measuredAt).toISOString().slice(0, 10);
