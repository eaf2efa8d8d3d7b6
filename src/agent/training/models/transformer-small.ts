/**
 * A small transformer language model over 256 tokens, such as bytes: two layers, width 128,
 * four heads, 512 feed-forward units, pre-norm, 64 predictions per window; 429,568 parameters.
 */
import { transformerLanguageModel } from './transformer-language-model.ts';

export const transformerSmall = transformerLanguageModel({
  id: 'transformer-small',
  title: 'Transformer, small',
  summary: 'Language model of 256 tokens: 2 layers, 128 wide, 429,568 parameters',
  vocabulary: 256,
  layers: 2,
  steps: 64,
  width: 128,
  heads: 4,
  inner: 512,
  norm: 'before',
});
