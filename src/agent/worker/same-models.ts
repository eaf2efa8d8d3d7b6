/** Whether the programs of all ranks have attached the same models, and which rank's has not. */
import { createHash } from 'node:crypto';
import { failure } from '../../shared/errors/errors.ts';
import { oddOne } from '../exchange/odd-one.ts';
import type { ParameterTensor } from '../training/trainer.ts';
import type { EngineClient } from './engine/engine-client.ts';

/** @throws GradwireError `PROGRAM_MODELS_DIFFER` */
export async function requireSameModels(
  engine: Pick<EngineClient, 'call'>,
  tensors: readonly Pick<ParameterTensor, 'name' | 'shape' | 'model'>[],
  { rank, ranks }: { readonly rank: number; readonly ranks: number },
): Promise<void> {
  const named = tensors.map(({ name, shape }) => `${name} ${shape.join('×')}`);
  // Models that step in turns are others than the same that do not.
  const turns = tensors.map(({ model }, i) => `${model ?? ''} ${named[i]!}`);
  const marked = tensors[0]?.model === undefined ? named : turns;
  const hash = createHash('sha256').update(marked.join('\n')).digest();
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
        'Attach the same models, in the same order and with the same turns, on every rank.',
    },
  );
}
