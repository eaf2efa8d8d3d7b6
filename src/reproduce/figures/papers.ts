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

export const QSGD: Paper = {
  name: 'QSGD',
  title: 'QSGD: Communication-Efficient SGD via Gradient Quantization and Encoding',
};

export const SCALECOM: Paper = {
  name: 'ScaleCom',
  title:
    'ScaleCom: Scalable Sparsified Gradient Compression for Communication-Efficient Distributed Training',
};

export const DCT: Paper = {
  name: 'DCT',
  title:
    'Training Recommender Systems at Scale: Communication-Efficient Model and Data Parallelism',
};
