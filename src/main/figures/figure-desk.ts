/** Figures of papers for pages: listed, reproduced one at a time, and shown. */
import { toErrorData, inputError, type ErrorData } from '../../shared/errors/errors.ts';
import type { CoreApi } from '../../shared/rpc/rpc.ts';
import type { FigureOutcome, FigureStatus } from '../../shared/rpc/figure-status.ts';
import { shellWord } from '../../shared/words/shell-word.ts';
import type { Figure } from '../../reproduce/figure.ts';
import type { PlannedRun } from '../../reproduce/planned-runs.ts';
import type { Result } from '../../reproduce/result.ts';
import type { Home } from '../home/home.ts';
import { FigureProcess } from './figure-process.ts';
import { KeptRuns } from './kept-runs.ts';
import { storedResult } from './read-results.ts';
import { thisComputer } from './this-computer.ts';

type FigureApi = Pick<CoreApi, 'figurePage' | 'figures' | 'startFigure' | 'stopFigure'>;

/** Definitions are read with the first question: most pages ask for none. */
const definitions = async () => await import('../../reproduce/figures/registry.ts');

export class FigureDesk {
  readonly #home: Pick<Home, 'directory' | 'reproduced'>;
  readonly #isKept: (run: string) => boolean;
  readonly #errors = new Map<string, ErrorData>();
  /** Runs and costs by figure: a page asks once a second while one is reproduced, which is timed. */
  readonly #planned = new Map<string, Planned>();
  #process: FigureProcess | undefined;

  /** @param isKept whether the history has a run */
  constructor(
    home: Pick<Home, 'directory' | 'reproduced'>,
    isKept: (run: string) => boolean,
  ) {
    this.#home = home;
    this.#isKept = isKept;
  }

  readonly api: FigureApi = {
    figures: async () => {
      const { figures } = await definitions();
      return await Promise.all(figures.map((figure) => this.#status(figure)));
    },
    figurePage: async (id) => {
      const { findFigure } = await definitions();
      const result = await storedResult(this.#home.reproduced, findFigure(id).id);
      if (result === undefined) {
        throw inputError('RESULTS_MISSING', `${id} has no result in this home`, {
          place: this.#home.reproduced,
          next: 'Reproduce it first.',
        });
      }
      const { page } = await import('../../reproduce/page/page.ts');
      const { chartPicture } = await import('../../reproduce/chart/chart-picture.ts');
      const { chart, title } = result;
      return {
        html: page(result),
        pictures: {
          light: chartPicture(chart, title, 'light'),
          dark: chartPicture(chart, title, 'dark'),
        },
        caption: chart.caption,
        runs: result.runs.map(({ run }) => run).filter(this.#isKept),
        table: result.table,
        parts: result.findings.map(({ outcome, text }) => ({ outcome, text })),
      };
    },
    startFigure: async (id, begin) => {
      const { findFigure } = await definitions();
      const { id: figure } = findFigure(id);
      if (this.#process !== undefined) {
        throw inputError(
          'FIGURE_BUSY',
          `${this.#process.figure} is being reproduced; two at once would disturb each other`,
          { next: 'Wait for its end, or stop it.' },
        );
      }
      this.#errors.delete(figure);
      const { directory: home, reproduced: directory } = this.#home;
      const started = new FigureProcess(figure, { begin, directory, home });
      this.#process = started;
      void started.ended.then((error) => {
        this.#process = undefined;
        if (error !== undefined) this.#errors.set(figure, error);
      });
    },
    stopFigure: async () => {
      const stopped = this.#process;
      stopped?.stop();
      await stopped?.ended;
    },
  };

  /** Stops what is being reproduced: without the app nobody would follow it. */
  async close(): Promise<void> {
    await this.api.stopFigure();
  }

  async #plannedOf(figure: Figure): Promise<Planned> {
    const known = this.#planned.get(figure.id);
    if (known !== undefined) return known;
    const { plannedRuns } = await import('../../reproduce/planned-runs.ts');
    const runs = plannedRuns(figure);
    const specs = runs.map(({ spec }) => spec);
    const cost = {
      runs: specs.length,
      ranks: Math.max(...specs.map(({ world }) => world.ranks)),
      iterations: specs.reduce((sum, { iterations }) => sum + iterations, 0),
    };
    const planned = { cost, runs };
    this.#planned.set(figure.id, planned);
    return planned;
  }

  /** Times that belong together are taken together: a timed figure keeps none. */
  async #keptOf(figure: Figure, planned: readonly PlannedRun[]): Promise<number> {
    if (figure.timed) return 0;
    const of = { planned, device: thisComputer() };
    return await KeptRuns.count(this.#home.reproduced, figure.id, of);
  }

  async #status(figure: Figure): Promise<FigureStatus> {
    const { claim, id, number, paper, rule, title } = figure;
    const planned = await this.#plannedOf(figure);
    let error = this.#errors.get(id);
    let result: FigureOutcome | undefined;
    try {
      const stored = await storedResult(this.#home.reproduced, id);
      result = stored && (await outcomeOf(stored));
    } catch (thrown) {
      error ??= toErrorData(thrown);
    }
    const isRunning = this.#process?.figure === id;
    return {
      id,
      paper: paper.name,
      number,
      title,
      claim: claim.text,
      rule,
      ...planned.cost,
      kept: await this.#keptOf(figure, planned.runs),
      command: `gradwire reproduce ${id} --out ${shellWord(this.#home.reproduced)}`,
      result,
      running: isRunning ? this.#process?.runs : undefined,
      error: isRunning ? undefined : error,
    };
  }
}

interface Planned {
  readonly cost: Pick<FigureStatus, 'iterations' | 'ranks' | 'runs'>;
  readonly runs: readonly PlannedRun[];
}

async function outcomeOf(result: Result): Promise<FigureOutcome> {
  const { verdictText } = await import('../../reproduce/page/verdict-text.ts');
  const { measuredAt, ours, seconds, verdict } = result;
  return { verdict, text: verdictText(result), ours, measuredAt, seconds };
}
