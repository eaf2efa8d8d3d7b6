/**
 * Steps of models that step in turns. Before anything of a step is exchanged the ranks agree on the
 * models that it is of, because ranks with different ones would wait for each other.
 */
import { failure } from '../../shared/errors/errors.ts';
import type { FlatTensor } from '../plan/buckets.ts';
import type { Turn } from './agreement.ts';
import type { CollectiveGroup } from './collective-group.ts';
import { ModelPart, namesIn, setOf } from './model-part.ts';
import { oddOne } from './odd-one.ts';
import { CONTROL_STREAM } from './streams.ts';

interface TurnsOptions {
  /** The models, in the order of their parameters. */
  readonly names: readonly string[];
  readonly tensors: readonly FlatTensor[];
  readonly world: Pick<CollectiveGroup, 'rank' | 'size' | 'summarize'>;
}

/** The set of a rank that takes part in any step: a number above all sets from `setOf`. */
const ANY = 2 ** 31;

export class ModelTurns {
  readonly #options: TurnsOptions;
  readonly #parts = new Map<number, ModelPart>();

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /**
   * Numbers by which a rank says which models its step is of.
   * @param models none: the rank has no gradient, and takes part in whatever the others exchange
   */
  turn(models: readonly number[]): Turn {
    const set = setOf(models);
    return { report: [set === 0 ? ANY : set, set], operations: ['min', 'max'] };
  }

  /**
   * The part of the gradient that all ranks exchange.
   * @param models of this rank's step
   * @param agreed what all ranks have said
   * @throws GradwireError `PROGRAM_TURNS_DIFFER`
   */
  async part(models: readonly number[], agreed: readonly number[]): Promise<ModelPart> {
    const [least, most] = agreed as [number, number];
    if (least !== ANY && least !== most) throw await this.#difference(setOf(models));
    let part = this.#parts.get(most);
    if (part === undefined) {
      part = new ModelPart(this.#options.tensors, most);
      this.#parts.set(most, part);
    }
    return part;
  }

  async #difference(own: number): Promise<Error> {
    const { names, world } = this.#options;
    const ranks = Array.from({ length: world.size }, (_, rank) => rank);
    const sets = await world.summarize(
      CONTROL_STREAM,
      ranks.map((rank) => (rank === world.rank ? own : 0)),
      ranks.map(() => 'max' as const),
    );
    const { odd, usual } = oddOne(sets);
    const of = (rank: number): string => {
      const models = namesIn(sets[rank]!, names).join(' and ');
      return models === '' ? 'of none, as it has ended' : `of ${models}`;
    };
    return failure(
      'PROGRAM_TURNS_DIFFER',
      `the step of rank ${odd} is ${of(odd)}, where that of rank ${usual} is ${of(usual)}`,
      {
        rank: odd,
        next: 'Let all ranks step the same models in the same order, each as often.',
      },
    );
  }
}
