/** A figure that is being repeated, on stdout: a line for each run, then what came out. */
import type { Figure } from '../../reproduce/figure.ts';
import { chanceText, verdictText } from '../../reproduce/page/verdict-text.ts';
import type { LeftOut } from '../../reproduce/quick-budget.ts';
import type { Result } from '../../reproduce/result.ts';
import { formatDuration } from '../../shared/words/units.ts';

/** A run that has been made and measured. */
interface FigureLine {
  readonly run: string;
  readonly case: string;
  readonly label: string;
  readonly seed: number;
  readonly values: Readonly<Record<string, number>>;
  readonly diverged?: true;
  /** Whether it was made before, and is taken now. */
  readonly kept?: true;
  /** The run's number among the figure's runs, from 1. */
  readonly index: number;
  readonly of: number;
  readonly milliseconds: number;
}

export interface FigurePrinter {
  begin(figure: Figure, runs: number): void;
  run(figure: Figure, line: FigureLine): void;
  /** @param page the path of the file */
  end(result: Result, page: string): void;
  /** A figure is given up; others may follow. */
  givenUp(left: LeftOut): void;
  /** All figures that were left out, at the end. */
  leftOut(all: readonly LeftOut[]): void;
}

type Write = (text: string) => void;

/** One JSON object per line: `figure`, then a `run` each, then the `result`; `left-out` at the end. */
export function jsonFigurePrinter(write: Write): FigurePrinter {
  const line = (record: object): void => {
    write(`${JSON.stringify(record)}\n`);
  };
  return {
    begin: ({ id, title }, runs) => {
      line({ type: 'figure', figure: id, title, runs });
    },
    run: ({ id }, made) => {
      line({ type: 'run', figure: id, ...made });
    },
    end: (result, page) => {
      line({ ...result, page });
    },
    givenUp: () => undefined,
    leftOut: (all) => {
      for (const left of all) line({ type: 'left-out', ...left });
    },
  };
}

export function humanFigurePrinter(write: Write): FigurePrinter {
  return {
    begin: ({ id, title }, runs) => {
      write(`${id}: ${title} (${runs} runs)\n`);
    },
    run: (_, { diverged, index, kept, of, label, seed, values, milliseconds }) => {
      const figures = Object.entries(values).map(
        ([name, value]) => `${name} ${shortly(value)}`,
      );
      const count = `${String(index).padStart(String(of).length)}/${of}`;
      write(
        `${count}  ${label}, seed ${seed}: ${diverged ? 'diverged, counts as ' : ''}${figures.join(', ')}  (${formatDuration(milliseconds)}${kept ? ', made before' : ''})\n`,
      );
    },
    end: (result, page) => {
      const { verdict, claim, findings, ours } = result;
      const parts = findings.flatMap(({ kind, measured, outcome, text }) => [
        `  ${outcome.padEnd(7)}  ${kind === 'claim' ? '' : `${kind}: `}${text}`,
        ...measured.map(
          (one) =>
            `           ${one.name === undefined ? '' : `${one.name}: `}${one.text}`,
        ),
      ]);
      const chance = chanceText(result);
      write(
        `\n${verdict}: ${verdictText(result)}\n${parts.join('\n')}\n` +
          (chance === undefined ? '' : `${chance}\n`) +
          `claim: ${claim.text}\nhere: ${ours}\npage: ${page}\n\n`,
      );
    },
    givenUp: ({ figure, why }) => {
      write(`\n${figure} is left out: ${why}\n\n`);
    },
    leftOut: (all) => {
      if (all.length === 0) return;
      const lines = all.map(({ figure, why }) => `  ${figure}: ${why}`);
      write(
        `Not decided, as --quick takes half an hour at most:\n${lines.join('\n')}\n` +
          'Give the name of a figure to make it whole, however long it takes; --all makes all of them.\n',
      );
    },
  };
}

/** Four digits, or all that are before the point: a count of bits is not rounded. */
const shortly = (value: number): number =>
  Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
