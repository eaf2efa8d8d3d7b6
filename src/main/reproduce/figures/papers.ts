/** The papers whose figures are repeated. */
import type { Paper } from '../figure.ts';

export const SPARCML: Paper = {
  name: 'SparCML',
  title: 'SparCML: High-Performance Sparse Communication for Machine Learning',
};

export const A2SGD: Paper = {
  name: 'A2SGD',
  title: 'O(1) Communication for Distributed SGD through Two-Level Gradient Averaging',
};

export const DCT: Paper = {
  name: 'DCT',
  title:
    'Training Recommender Systems at Scale: Communication-Efficient Model and Data Parallelism',
};
