/**
 * A small LSTM language model of bytes: 256 tokens, embeddings of 32, one layer of 128
 * units, 16 predictions in a window; 124,160 parameters.
 */
import { lstmLanguageModel } from './lstm.ts';

export const lstmSmall = lstmLanguageModel({
  id: 'lstm-small',
  title: 'LSTM, small',
  summary: 'Language model of bytes: one LSTM layer of 128 units, 124,160 parameters',
  vocabulary: 256,
  embedding: 32,
  hidden: 128,
  layers: 1,
  steps: 16,
});
