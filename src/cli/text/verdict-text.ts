/** A verdict for the terminal: each sentence, and under it what it rests on. */
import type { Proof } from '../../shared/verdict/proof.ts';
import type { Verdict } from '../../shared/verdict/verdict.ts';
import { capitalized } from '../../shared/words/capitalized.ts';

export function verdictText({ basis, statements }: Verdict): string {
  const lines = statements.flatMap(({ proof, text }) => [
    capitalized(text),
    ...proofLines(proof),
  ]);
  return [...lines, `${capitalized(basis)}, with 95 % intervals`].join('\n');
}

/** Lines under a sentence: the formula, and a column of its numbers. */
export const proofLines = ({ formula, terms }: Proof): readonly string[] => [
  `    ${formula}`,
  ...columns(terms.map(({ name, value }) => [name, value])),
];

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `      ${name.padEnd(width)}  ${value}`);
}

/** The verdict as JSON: maps and infinities become what JSON has. */
export function verdictJson(run: string, verdict: Verdict | undefined): string {
  if (verdict === undefined) return JSON.stringify({ run, statements: [] });
  const { account, basis, bound, statements } = verdict;
  return JSON.stringify({
    run,
    bound,
    rival: account.rival,
    straggler: account.straggler,
    step: account.step,
    parts: Object.fromEntries(account.parts),
    statements,
    basis,
  });
}
