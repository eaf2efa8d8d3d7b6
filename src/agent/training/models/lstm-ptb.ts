/**
 * LSTM-PTB of the A2SGD experiments (table of models): 10,000 words, embeddings of 1500, two
 * layers of 1500 units with two bias vectors each; 66,034,000 parameters. Zaremba, Sutskever and
 * Vinyals, "Recurrent Neural Network Regularization", 2014, call it large.
 *
 * A window has 8 predictions, not their 35: jax-js keeps the gradient of a layer's weights for
 * each step until it adds them up, and 20 steps do not fit into the 4 GiB of WebAssembly.
 */
import { lstmLanguageModel } from './lstm.ts';

export const lstmPtb = lstmLanguageModel({
  id: 'lstm-ptb',
  title: 'LSTM-PTB',
  summary:
    'Language model of 10,000 words: two LSTM layers of 1500 units, 66,034,000 parameters',
  vocabulary: 10_000,
  embedding: 1500,
  hidden: 1500,
  layers: 2,
  steps: 8,
});
