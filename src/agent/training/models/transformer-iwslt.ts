/**
 * The translation model of the DCT experiments: encoder and decoder of six layers each, width
 * 512, 1024 feed-forward units (Gupta et al., "Training Recommender Systems at Scale", 2021,
 * section 3.2). The paper takes it from fairseq, whose `transformer_iwslt_de_en` has four heads,
 * post-norm and, by its recipe, tied embeddings in the decoder. IWSLT'14 German to English has
 * 8848 and 6632 tokens. 39,469,056 parameters.
 */
import { transformerTranslator } from './transformer-translator.ts';

export const transformerIwslt = transformerTranslator({
  id: 'transformer-iwslt',
  title: 'Transformer 6+6',
  summary: 'Encoder and decoder of 6 layers each, 512 wide, 39,469,056 parameters',
  sourceVocabulary: 8848,
  targetVocabulary: 6632,
  layers: 6,
  width: 512,
  heads: 4,
  inner: 1024,
  norm: 'after',
});
