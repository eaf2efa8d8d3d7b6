/** Whether the programs of all ranks have attached the same models, and which rank's has not. */
import { createHash } from 'node:crypto';
import { failure } from '../../shared/errors/errors.ts';
import type { ParameterTensor } from '../training/trainer.ts';
import type { EngineClient } from './engine/engine-client.ts';

/** @throws GradwireError `PROGRAM_MODELS_DIFFER` */
export async function requireSameModels(
  engine: Pick<EngineClient, 'call'>,
  tensors: readonly Pick<ParameterTensor, 'name' | 'shape'>[],
  { rank, ranks }: { readonly rank: number; readonly ranks: number },
): Promise<void> {
  const named = tensors.map(({ name, shape }) => `${name} ${shape.join('×')}`);
  const hash = createHash('sha256').update(named.join('\n')).digest();
  const words = [0, 4, 8, 12].map((at) => hash.readUInt32LE(at));
  const { values } = await engine.call('summarize', {
    values: [...words, ...words],
    operations: [
      ...words.map(() => 'min' as const),
      ...words.map(() => 'max' as const),
    ],
  });
  if (words.every((_, i) => values[i] === values[words.length + i])) return;
  // Only now: with many ranks this is a longer message than the one above.
  const marks = await engine.call('summarize', {
    values: Array.from({ length: ranks }, (_, i) =>
      i === rank ? hash.readUIntLE(0, 6) : 0,
    ),
    operations: Array.from({ length: ranks }, () => 'max' as const),
  });
  const { odd, usual } = oddOne(marks.values);
  throw failure(
    'PROGRAM_MODELS_DIFFER',
    `rank ${odd} has attached other models than rank ${usual}`,
    {
      rank: odd,
      next:
        `Rank ${rank} has attached ${named.length} parameters, from ${named[0]} to ${named.at(-1)!}. ` +
        'Attach the same models, in the same order, on every rank.',
    },
  );
}

/** The first rank whose mark is not the most frequent one, and the first whose mark that is. */
export function oddOne(marks: readonly number[]): {
  readonly odd: number;
  readonly usual: number;
} {
  const counts = new Map<number, number>();
  for (const mark of marks) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  // Of two that are equally frequent, that of the lower rank counts: `toSorted` keeps their order.
  const [[most]] = [...counts].toSorted(([, a], [, b]) => b - a) as [[number, number]];
  return { odd: marks.findIndex((mark) => mark !== most), usual: marks.indexOf(most) };
}
