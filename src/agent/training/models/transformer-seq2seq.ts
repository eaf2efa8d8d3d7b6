/**
 * A small encoder and decoder for short sequences of up to 16 different tokens: two layers
 * each, 64 wide, four heads, an inner layer of 128, norm before each; 169,728 parameters.
 */
import { transformerTranslator } from './transformer-translator.ts';

export const transformerSeq2seq = transformerTranslator({
  id: 'transformer-seq2seq',
  title: 'Transformer, encoder and decoder',
  summary: 'Sequence to sequence: 2+2 layers, 64 wide, 16 tokens, 169,728 parameters',
  ...{ sourceVocabulary: 16, targetVocabulary: 16, layers: 2 },
  ...{ width: 64, heads: 4, inner: 128, norm: 'before' },
});
