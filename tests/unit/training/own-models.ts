/**
 * Models as texts of files: those of docs/models.md that are layers, as one function, and one of
 * clicks in both ways. They share no code with one another.
 */

export const threeLayerWhole = `
const he = (inputs) => ({ normal: Math.sqrt(2 / inputs) });

export default {
  id: 'whole',
  title: 'Whole',
  summary: '',
  inputLength: 784,
  classes: 10,
  tensors: [
    { name: 'layer1.weight', shape: [784, 64], initialize: he(784) },
    { name: 'layer1.bias', shape: [64], initialize: 'zeros' },
    { name: 'layer2.weight', shape: [64, 32], initialize: he(64) },
    { name: 'layer2.bias', shape: [32], initialize: 'zeros' },
    { name: 'layer3.weight', shape: [32, 10], initialize: he(32) },
    { name: 'layer3.bias', shape: [10], initialize: 'zeros' },
  ],
  logits({ nn, numpy }, [weight1, bias1, weight2, bias2, weight3, bias3], inputs) {
    const one = nn.relu(numpy.matmul(inputs, weight1).add(bias1));
    const two = nn.relu(numpy.matmul(one, weight2).add(bias2));
    return numpy.matmul(two, weight3).add(bias3);
  },
};
`;

export const nextTokenWhole = `
export default {
  id: 'whole',
  title: 'Whole',
  summary: '',
  inputs: { tokens: { type: 'i32', shape: [17], below: 128 } },
  predictions: 16,
  metric: 'perplexity',
  tensors: [
    { name: 'embedding', shape: [128, 32], initialize: { normal: 0.1 } },
    { name: 'mixed', shape: [96, 32], initialize: { normal: 0.1 } },
    { name: 'bias', shape: [128], initialize: 'zeros' },
  ],
  objective({ nn, numpy }, [embedding, mixed, bias], { tokens }) {
    const seen = nn.oneHot(tokens.ref.slice([], [0, 16]), 128);
    const values = numpy.matmul(seen, embedding.ref);
    const padded = numpy.pad(values.ref, [[0, 0], [2, 0], [0, 0]]);
    const near = [padded.ref.slice([], [0, 16]), padded.slice([], [1, 17]), values.ref];
    const sums = numpy.matmul(numpy.concatenate(near, 2), mixed);
    const hidden = values.add(nn.relu(sums));
    const scores = numpy.matmul(hidden, numpy.transpose(embedding)).add(bias);
    const next = nn.oneHot(tokens.slice([], [1, 17]), 128);
    return { losses: nn.logSoftmax(scores).mul(next).sum(2).neg().sum(1), sums: [] };
  },
};
`;

const CLICK_INPUTS = `
  inputs: {
    dense: { type: 'f32', shape: [13] },
    categories: { type: 'i32', shape: [26], below: 250 },
    labels: { type: 'i32', shape: [], below: 2 },
  },
  metric: 'auc',`;

/** A layer in the middle has a table; the last takes values, and its head labels. */
export const clickLayers = `
export default {
  id: 'clicks',
  title: 'Clicks',
  summary: '',
  ${CLICK_INPUTS}
  layers: [
    { name: 'bottom', tensors: [{ name: 'bottom', shape: [13, 4], initialize: { normal: 0.3 } }],
      fields: ['dense'], output: [4],
      apply: ({ nn, numpy }, [weight], _, { dense }) => nn.relu(numpy.matmul(dense, weight)) },
    { name: 'table', tensors: [
        { name: 'rows', shape: [250, 4], initialize: { uniform: 0.5 }, rowsOf: 'categories' }],
      output: [2, 4],
      apply: ({ numpy }, [rows], values) => numpy.stack([values, rows.mean(1)], 1) },
    { name: 'top', tensors: [{ name: 'top', shape: [8], initialize: { normal: 0.3 } }],
      output: [1],
      apply: ({ numpy }, [weight], values) =>
        numpy.matmul(values.reshape([-1, 8]), weight.reshape([8, 1])) },
  ],
  head: { fields: ['labels'],
    objective({ numpy }, scores, { labels }) {
      const [score, clicks] = [scores.reshape([-1]), labels.astype(numpy.float32)];
      const margin = score.ref.mul(clicks.ref.mul(2).sub(1));
      return { losses: numpy.logaddexp(0, margin.neg()), sums: [score, clicks] };
    } },
};
`;

export const clicksWhole = `
export default {
  id: 'whole',
  title: 'Whole',
  summary: '',
  ${CLICK_INPUTS}
  tensors: [
    { name: 'bottom', shape: [13, 4], initialize: { normal: 0.3 } },
    { name: 'rows', shape: [250, 4], initialize: { uniform: 0.5 }, rowsOf: 'categories' },
    { name: 'top', shape: [8], initialize: { normal: 0.3 } },
  ],
  objective({ nn, numpy }, [bottom, rows, top], { categories, dense, labels }) {
    categories.dispose();
    const below = nn.relu(numpy.matmul(dense, bottom));
    const both = numpy.stack([below, rows.mean(1)], 1).reshape([-1, 8]);
    const score = numpy.matmul(both, top.reshape([8, 1])).reshape([-1]);
    const clicks = labels.astype(numpy.float32);
    const margin = score.ref.mul(clicks.ref.mul(2).sub(1));
    return { losses: numpy.logaddexp(0, margin.neg()), sums: [score, clicks] };
  },
};
`;
