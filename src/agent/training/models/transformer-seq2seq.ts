/**
 * A small encoder-decoder transformer for short sequences over 16 tokens: two layers each,
 * width 64, four heads, 128 feed-forward units, pre-norm; 169,728 parameters.
 */
import { transformerTranslator } from './transformer-translator.ts';

export const transformerSeq2seq = transformerTranslator({
  id: 'transformer-seq2seq',
  title: 'Transformer, encoder and decoder',
  summary: 'Sequence to sequence: 2+2 layers, 64 wide, 16 tokens, 169,728 parameters',
  sourceVocabulary: 16,
  targetVocabulary: 16,
  layers: 2,
  width: 64,
  heads: 4,
  inner: 128,
  norm: 'before',
});
