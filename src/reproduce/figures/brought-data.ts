/**
 * The papers' data sets, which the user supplies for figures at full scale. They may share one
 * directory, so that one `--data` serves all figures.
 */
import type { BroughtData } from '../full-scale.ts';

export const MNIST: BroughtData = {
  name: 'MNIST',
  from: 'Fetch it with gradwire data fetch mnist.',
};

export const CIFAR_10: BroughtData = {
  name: 'CIFAR-10',
  from: 'Fetch it with gradwire data fetch cifar-10.',
};

/** The log of Kaggle's Display Advertising Challenge: 45,840,617 clicks and views of seven days. */
export const CRITEO_FILE = 'train.txt';
/** Samples of the first six days, as the authors of DLRM divide the file: into sevenths. */
export const CRITEO_SAMPLES = 39_291_958;
export const CRITEO: BroughtData = {
  name: `Criteo’s ${CRITEO_FILE}`,
  from: `Get ${CRITEO_FILE} of Kaggle’s Display Advertising Challenge from Criteo; to split it as the paper does, move the last day’s lines, a seventh, to ${CRITEO_FILE}.t.`,
};

/** Files of LIBSVM's page of data sets, with the numbers of SparCML's Table 1. */
export const URL_FILE = {
  file: 'url_combined',
  samples: 2_396_130,
  dimension: 3_231_961,
};
export const WEBSPAM_FILE = {
  file: 'webspam_wc_normalized_trigram.svm',
  samples: 350_000,
  dimension: 16_609_143,
};
export const URL_AND_WEBSPAM: BroughtData = {
  name: `${URL_FILE.file} and ${WEBSPAM_FILE.file}`,
  from: 'Get both files from LIBSVM’s page of data sets (binary classification), and unpack them.',
};
