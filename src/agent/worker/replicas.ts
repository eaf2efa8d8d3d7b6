/**
 * Evaluates, compares and averages the replicas of all ranks between two iterations.
 * Every rank makes the same calls at the same time.
 */
import { createHash } from 'node:crypto';
import { statedKind } from '../../shared/records/metric.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { ExchangeProfile } from '../profile/phase-clock.ts';
import type { EvaluationSums, StepResult, Trainer } from '../training/trainer.ts';
import type { EngineClient } from './engine/engine-client.ts';
import { weightPieces } from './weight-pieces.ts';
import type { FiniteMeasures } from './finite-measures.ts';

export interface ReplicasOptions {
  readonly rank: number;
  readonly ranks: number;
  readonly trainer: Trainer;
  readonly engine: EngineClient;
  readonly arena: Arena;
  readonly finite: FiniteMeasures;
  readonly report: (record: RunRecord) => void;
  /** Position of the stage, if the model is split. */
  readonly position?: StagePosition | undefined;
}

export interface StagePosition {
  readonly stage: number;
  readonly stages: number;
  readonly replica: number;
}

/** A model's measures on the test set; left out if not finite. */
type Measures = Partial<Readonly<Record<keyof StepResult, number>>>;

export interface Evaluation extends Measures {
  /** Measures of the average of drifting replicas. */
  readonly averaged: Measures | undefined;
}

export class Replicas {
  readonly #options: ReplicasOptions;
  #weights: Vector | undefined;
  #state: Vector | undefined;
  /** Scores of this rank's test samples, as many in every evaluation. */
  #scores: Vector | undefined;

  constructor(options: ReplicasOptions) {
    this.#options = options;
  }

  /**
   * Reports the model's measures on the test set. Drifting replicas are measured twice:
   * each on its share of the set, and the model with their average weights.
   */
  async evaluate(iteration: number, drift: boolean): Promise<Evaluation> {
    const { trainer, rank, report } = this.#options;
    const start = performance.now();
    const { samples, ...finite } = await this.#measure(iteration, '');
    const averaged = drift ? await this.#measureAverage(iteration) : undefined;
    if (rank === 0) {
      report({
        type: 'evaluation',
        at: Date.now(),
        iteration,
        ...finite,
        ...(averaged === undefined ? {} : { averaged }),
        ...statedKind(trainer.metric),
        samples,
        wall: performance.now() - start,
      });
    }
    return { ...finite, averaged };
  }

  /** Restores the replica's own weights before it resolves. */
  async #measureAverage(iteration: number): Promise<Measures> {
    const { trainer, engine, arena } = this.#options;
    this.#weights ??= await this.#allocate(trainer.length);
    const own = new Float32Array(trainer.length);
    await trainer.readWeights(own);
    const mean = arena.f32(this.#weights);
    mean.set(own);
    await engine.call('average', { vector: this.#weights, measures: true });
    await trainer.writeWeights(mean);
    const { loss, metric } = await this.#measure(iteration, ' of the averaged model');
    await trainer.writeWeights(own);
    return {
      ...(loss === undefined ? {} : { loss }),
      ...(metric === undefined ? {} : { metric }),
    };
  }

  /**
   * Measures over the test samples of all ranks. @param whose for a notice about values
   * that are not finite
   */
  async #measure(
    iteration: number,
    whose: string,
  ): Promise<Measures & { readonly samples: number }> {
    const { trainer, engine } = this.#options;
    const own = await trainer.evaluate();
    const { values } = await engine.call('summarize', {
      values: own,
      operations: own.map(() => 'sum'),
    });
    // Nothing can be measured without samples; that is no divergence.
    if (values[0] === 0) return { samples: 0 };
    const sums = await this.#withPairs(values as unknown as EvaluationSums);
    const { title } = trainer.metric;
    const measured = trainer.measuresOf(sums);
    const finite = this.#options.finite.evaluation(measured, iteration, {
      title,
      whose,
    });
    return { ...finite, samples: sums[0] };
  }

  /**
   * The sums of a metric of pairs, with the pairs of samples of two ranks. All ranks have the same
   * sums, and so agree on which class travels: the one with fewer samples.
   */
  async #withPairs(sums: EvaluationSums): Promise<EvaluationSums> {
    const { ranks, trainer, engine, arena } = this.#options;
    const { scores } = trainer;
    if (scores === undefined || ranks === 1) return sums;
    const [samples, loss, ordered = NaN, positives = 0, negatives = 0] = sums;
    const all = positives * negatives;
    if (Number.isNaN(ordered) || all === 0) return sums;
    const classes = [scores.positives, scores.negatives];
    const [travelling, staying] =
      positives <= negatives ? classes : classes.toReversed();
    this.#scores ??= await this.#allocate(travelling!.length + staying!.length);
    const { offset } = this.#scores;
    const places = {
      travelling: { offset, length: travelling!.length },
      staying: { offset: offset + 4 * travelling!.length, length: staying!.length },
    };
    arena.f32(places.travelling).set(travelling!);
    arena.f32(places.staying).set(staying!);
    const { pairs } = await engine.call('countPairs', places);
    const inOrder = positives <= negatives ? pairs : all - pairs;
    return [samples, loss, inOrder, positives, negatives];
  }

  async divergence(iteration: number): Promise<number | undefined> {
    const { trainer, engine, arena, rank, report } = this.#options;
    this.#weights ??= await this.#allocate(trainer.length);
    await trainer.readWeights(arena.f32(this.#weights));
    const measured = await engine.call('divergence', { vector: this.#weights });
    const value = this.#options.finite.divergence(measured.value, iteration);
    if (rank === 0 && value !== undefined) {
      report({ type: 'divergence', at: Date.now(), iteration, value });
    }
    return value;
  }

  /**
   * Replace weights and optimiser state by their averages over ranks. The state too:
   * equal weights with unequal velocities would drift apart again at the next step.
   * @param others vectors of the weights' length, to be averaged as well
   */
  async resynchronize(
    others: readonly Float32Array[],
  ): Promise<readonly ExchangeProfile[]> {
    const { trainer, engine, arena } = this.#options;
    this.#weights ??= await this.#allocate(trainer.length);
    const weights = arena.f32(this.#weights);
    const profiles: { profile: ExchangeProfile }[] = [];
    for (const other of others) {
      weights.set(other);
      profiles.push(await engine.call('average', { vector: this.#weights }));
      other.set(weights);
    }
    await trainer.readWeights(weights);
    profiles.push(await engine.call('average', { vector: this.#weights }));
    await trainer.writeWeights(weights);
    if (trainer.stateLength > 0) {
      this.#state ??= await this.#allocate(trainer.stateLength);
      const state = arena.f32(this.#state);
      await trainer.readState(state);
      profiles.push(await engine.call('average', { vector: this.#state }));
      await trainer.writeState(state);
    }
    return profiles.map(({ profile }) => profile);
  }

  /**
   * The SHA-256 of this replica's weights, and whether all ranks have the same (minimum and
   * maximum are equal).
   */
  async digest(): Promise<{ readonly weights: string; readonly consistent: boolean }> {
    const { trainer } = this.#options;
    const hash = createHash('sha256');
    for await (const piece of weightPieces(trainer)) hash.update(piece);
    const digest = hash.digest();
    const words = Array.from({ length: digest.length / 4 }, (_, i) =>
      digest.readUInt32LE(4 * i),
    );
    const { values } = await this.#options.engine.call('summarize', {
      values: [...words, ...words],
      operations: [
        ...words.map(() => 'min' as const),
        ...words.map(() => 'max' as const),
      ],
      among: 'group',
    });
    const consistent = words.every((_, i) => values[i] === values[words.length + i]);
    const { position } = this.#options;
    if (position === undefined) return { weights: digest.toString('hex'), consistent };
    return await this.#digestOfStages(words, consistent, position);
  }

  /**
   * The digest over all stages in order, and whether all replicas of each stage are equal.
   */
  async #digestOfStages(
    words: readonly number[],
    consistent: boolean,
    { replica, stage, stages }: StagePosition,
  ): Promise<{ readonly weights: string; readonly consistent: boolean }> {
    const all = Array.from({ length: stages }, (_, other) =>
      other === stage && replica === 0 ? words : words.map(() => 0),
    ).flat();
    const { values } = await this.#options.engine.call('summarize', {
      values: [...all, consistent ? 0 : 1],
      operations: [...all, 0].map(() => 'sum'),
    });
    const digests = Uint32Array.from(values.slice(0, -1));
    return {
      weights: createHash('sha256').update(digests).digest('hex'),
      consistent: values.at(-1) === 0,
    };
  }

  async #allocate(length: number): Promise<Vector> {
    return (await this.#options.engine.call('allocate', { length })).vector;
  }
}
