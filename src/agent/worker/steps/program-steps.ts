/**
 * The steps of a program of one's own, which leads: each of its gradients is an iteration. Ranks
 * exchange what is ready while the backward pass continues.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { failure } from '../../../shared/errors/errors.ts';
import { rankLimit } from '../../../shared/spec/optimizer-spec.ts';
import type { Notice } from '../../../shared/records/notice.ts';
import type { Program } from '../../bridge/program.ts';
import { EXIT_MS } from '../../bridge/program-run.ts';
import type { ProgramTrainer } from '../../bridge/program-trainer.ts';
import type { Stepped } from '../../bridge/messages.ts';
import type { SkippedExchange } from '../../exchange/exchange-calls.ts';
import type { PassTimes } from '../../training/trainer.ts';
import type { EngineCalls } from '../engine/engine-protocol.ts';
import { LoggedValues } from './logged-values.ts';
import { ProgramClock } from './program-spans.ts';
import { ProgramState } from './program-state.ts';
import { isDue, type Steps, type StepsOptions, type TakenStep } from './steps.ts';

export interface ProgramStepsOptions extends StepsOptions {
  readonly program: Program;
  readonly programTrainer: ProgramTrainer;
  /** The engine's input vector, whose pages the program shares. */
  readonly gradient: Float32Array;
}

type Exchanged = EngineCalls['exchange']['reply'];

/** A rank number above all others, in the search for the first that has ended. */
const NO_RANK = 2 ** 31;

export class ProgramSteps implements Steps {
  readonly #options: ProgramStepsOptions;
  readonly #logged: LoggedValues;
  readonly #state: ProgramState;
  readonly #clock = new ProgramClock();
  readonly state = [];
  /** The moment at which all of the last gradient was known to be there. */
  #complete = 0;
  /** Whether a notice has said that a gradient was not finite. */
  #isSkipTold = false;

  constructor(options: ProgramStepsOptions) {
    this.#options = options;
    this.#state = new ProgramState(options);
    this.#logged = new LoggedValues(options.notice);
  }

  get exchanged(): Float32Array {
    return this.#options.gradient;
  }

  since(iteration: number): number {
    return iteration;
  }

  exchangesIn(): boolean {
    return true;
  }

  /** @throws GradwireError `PROGRAM_ENDED_EARLY`; the program's and the engine's errors */
  async take(iteration: number, compares: boolean): Promise<TakenStep | undefined> {
    const { isTraced, program, programTrainer, spec, wantsWeights } = this.#options;
    // A gradient has its norm, by which it is clipped, once all of it is there.
    const clips = rankLimit(spec.optimizer) !== undefined;
    const isWhole =
      compares || clips || this.#state.isOpen || programTrainer.turns !== undefined;
    const reply = await (isWhole
      ? this.#exchangeWhole(iteration, compares)
      : this.#exchangeReady(iteration));
    if (reply === undefined) return undefined;
    const complete = this.#complete;
    const { result, fences, notices } = reply;
    this.#state.iteration = iteration + 1;
    const { skipped } = result;
    const ends = result.stop || result.pause || fences.length > 0;
    const averaging = performance.now();
    const stepped = await program.average({
      trace: isTraced(),
      // What is compared stays in place until that is done.
      hold: ends || compares || wantsWeights(iteration),
      finite: skipped?.isAveraged !== false,
    });
    programTrainer.rate = stepped.step.lr;
    const { at, data = 0, wall, apply } = stepped.step;
    return {
      at,
      wall,
      data,
      compute: 0,
      apply,
      step: { ...this.#logged.of(stepped, iteration), passes: passesOf(stepped) },
      exchange: { ...reply, notices: [...notices, ...this.#skipNotices(skipped)] },
      staleness: 0,
      elsewhere: 0,
      program: this.#clock.spansOf(stepped.step, { complete, averaging }),
    };
  }

  /** Exchanges a gradient as it becomes ready; undefined if all programs have ended. */
  async #exchangeReady(iteration: number): Promise<Exchanged | undefined> {
    const { engine, program } = this.#options;
    let exchange: Promise<Exchanged> | undefined;
    const advance = (from: number): void => {
      exchange ??= this.#exchange(iteration, true);
      engine.advance(iteration, from);
    };
    const goesOn = await program.gradient(advance, this.#state);
    if (!goesOn) return await this.#end(iteration);
    engine.exposed(iteration);
    this.#complete = performance.now();
    return await this.#unlessEnded(await exchange!, true);
  }

  /**
   * Exchanges a gradient when all of it is there.
   * @param compares whether a copy is kept
   */
  async #exchangeWhole(
    iteration: number,
    compares: boolean,
  ): Promise<Exchanged | undefined> {
    const { comparison, gradient, program } = this.#options;
    let models: readonly number[] = [];
    const goesOn = await program.gradient((_, stepping) => {
      models = stepping;
    }, this.#state);
    if (!goesOn) return await this.#end(iteration);
    this.#complete = performance.now();
    if (compares) await comparison.keep(gradient);
    const notices = await this.#state.agree();
    const reply = await this.#exchange(iteration, false, models);
    const all = [...notices, ...reply.notices];
    return await this.#unlessEnded({ ...reply, notices: all }, true);
  }

  /** The others must not wait for a rank without gradients: it exchanges one of zeros. */
  async #end(iteration: number): Promise<undefined> {
    const { engine, gradient } = this.#options;
    gradient.fill(0);
    engine.requestEnd();
    await this.#state.agree();
    await this.#unlessEnded(await this.#exchange(iteration, false), false);
    return undefined;
  }

  /** @param models of the step, where they step in turns */
  #exchange(
    iteration: number,
    overlaps: boolean,
    models: readonly number[] = [],
  ): Promise<Exchanged> {
    const { engine, rank, spec } = this.#options;
    const due = isDue(spec.inspectEvery, { since: iteration, iteration });
    const inspects = rank === 0 && due;
    const beside = overlaps ? ('backward' as const) : undefined;
    return engine.call('exchange', {
      iteration,
      beside,
      inspects,
      skips: true,
      ...(models.length === 0 ? {} : { models }),
    });
  }

  /** Told once, by the lowest of the ranks whose gradients were not finite. */
  #skipNotices(skipped: SkippedExchange | undefined): readonly Notice[] {
    if (skipped === undefined || this.#isSkipTold) return [];
    this.#isSkipTold = true;
    const { programTrainer, rank } = this.#options;
    return skipped.rank === rank ? [skipNotice(skipped, programTrainer.scales)] : [];
  }

  /**
   * The exchange's reply; undefined if the programs of all ranks have ended.
   * @throws GradwireError `PROGRAM_FAILED`, `PROGRAM_ENDED_EARLY`
   */
  async #unlessEnded(
    reply: Exchanged,
    goesOn: boolean,
  ): Promise<Exchanged | undefined> {
    if (!reply.result.end) return reply;
    const { engine, program, rank } = this.#options;
    const { values } = await engine.call('summarize', {
      values: [goesOn ? 0 : 1, goesOn ? NO_RANK : rank],
      operations: ['min', 'min'],
    });
    const [all, first] = values as [number, number];
    if (all === 1) return undefined;
    // Its exit code is the cause, so the others wait for it to be told.
    const cause = goesOn
      ? await sleep(2 * EXIT_MS, undefined)
      : await program.failureAtEnd();
    if (cause !== undefined) throw cause;
    throw failure(
      'PROGRAM_ENDED_EARLY',
      `the program of rank ${first} has ended, but others have further steps`,
      {
        rank: first,
        next: 'Let all ranks take the same number of steps: check the sizes of their data.',
      },
    );
  }
}

/** @param scales whether a GradScaler skips the step */
function skipNotice(
  { found, isAveraged, rank }: SkippedExchange,
  scales: boolean,
): Notice {
  const level = scales ? 'info' : 'warning';
  const what = isAveraged
    ? 'all ranks get the average with it'
    : 'all ranks get NaN, and the residual stays as it was';
  const next = scales
    ? 'its GradScaler skips the step, on all ranks'
    : 'if a GradScaler is to skip such steps, attach it: gw.attach(model, optimizer, scaler=scaler)';
  const message = `${found ?? 'a gradient is not finite'} on rank ${rank}: ${what}; ${next}`;
  return { level, code: 'GRADIENT_NOT_FINITE', message };
}

/** Milliseconds of the passes that a program's hooks see. */
export function passesOf({ step: { backward, forward } }: Stepped): Partial<PassTimes> {
  return {
    ...(forward === undefined ? {} : { forward }),
    ...(backward === undefined ? {} : { backward }),
  };
}
