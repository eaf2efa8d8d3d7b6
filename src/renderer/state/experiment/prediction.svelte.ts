/**
 * Predictions of a new experiment: its points one after another, each measured and timed by main,
 * until all have an answer or somebody stops it.
 */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { PointForecast } from '../../../shared/forecast/run-forecast.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type { SweepRequest } from '../../../shared/sweep/sweep-request.ts';
import type { SweepPointStatus } from '../../../shared/sweep/sweep-status.ts';

/** A sweep, or a spec alone. */
export interface Predicted {
  readonly request: SweepRequest;
  /** The points of the sweep; none: the spec is the only one. */
  readonly points: readonly SweepPointStatus[];
  /** Number of runs of each point. */
  readonly seeds: number;
}

export class Prediction {
  readonly #api: Pick<AppApi, 'predictPoint'>;
  #of = $state.raw<Predicted>();
  #forecasts = $state.raw<readonly PointForecast[]>([]);
  #error = $state.raw<ErrorData>();
  #isAsking = $state(false);
  #question = 0;

  constructor(api: Pick<AppApi, 'predictPoint'>) {
    this.#api = api;
  }

  /** The experiment that was asked for last. */
  get of(): Predicted | undefined {
    return this.#of;
  }

  /** The answers so far, in the order of the points. */
  get forecasts(): readonly PointForecast[] {
    return this.#forecasts;
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  get isAsking(): boolean {
    return this.#isAsking;
  }

  /** Whether the answers are those to this request. */
  isOf(request: SweepRequest | undefined): boolean {
    return JSON.stringify(request) === JSON.stringify(this.#of?.request);
  }

  async ask(subject: Predicted): Promise<void> {
    const mine = ++this.#question;
    this.#of = subject;
    this.#forecasts = [];
    this.#error = undefined;
    this.#isAsking = true;
    try {
      for (let point = 1; point <= Math.max(1, subject.points.length); point++) {
        const forecast = await this.#api.predictPoint(subject.request, point);
        if (mine !== this.#question) return;
        this.#forecasts = [...this.#forecasts, forecast];
      }
    } catch (thrown) {
      if (mine === this.#question) this.#error = toErrorData(thrown);
    } finally {
      if (mine === this.#question) this.#isAsking = false;
    }
  }

  /** Asks for no more points; those that are known stay. */
  stop(): void {
    this.#question++;
    this.#isAsking = false;
  }
}
