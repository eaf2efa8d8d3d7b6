/**
 * A small language model of 256 tokens, such as bytes: two transformer layers, 128 wide, four
 * heads, an inner layer of 512, norm before each, 64 predictions in a window; 429,568
 * parameters.
 */
import { transformerLanguageModel } from './transformer-language-model.ts';

export const transformerSmall = transformerLanguageModel({
  id: 'transformer-small',
  title: 'Transformer, small',
  summary: 'Language model of 256 tokens: 2 layers, 128 wide, 429,568 parameters',
  ...{ vocabulary: 256, layers: 2, steps: 64 },
  ...{ width: 128, heads: 4, inner: 512, norm: 'before' },
});
