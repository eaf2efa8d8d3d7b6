/** A trainer's weights, piece by piece: a large model's would take as much memory again at once. */
import type { Trainer } from '../training/trainer.ts';

/** Elements of a piece: a hash takes less than 2 GiB per call. */
const PIECE = 1 << 22;

type Weights = Pick<Trainer, 'length' | 'readPieces' | 'readWeights'>;

export async function* weightPieces(trainer: Weights): AsyncIterable<Float32Array> {
  if (trainer.readPieces !== undefined) {
    yield* trainer.readPieces(PIECE);
    return;
  }
  const weights = new Float32Array(trainer.length);
  await trainer.readWeights(weights);
  for (let at = 0; at < weights.length; at += PIECE) {
    yield weights.subarray(at, at + PIECE);
  }
}
