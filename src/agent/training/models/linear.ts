/**
 * Linear classifiers of sparse samples in two classes, as SparCML's MPI-OPT trains them: the
 * score of a sample is w·x + b, and the loss is logistic or the hinge of a support vector
 * machine. Only features that occur in a batch get a gradient: it is as sparse as the
 * data.
 *
 * Source: Renggli et al., "SparCML", SC 2019, section 8.2. A penalty on the weights is the
 * optimiser's weight decay.
 */
import { accuracy } from '../metrics/accuracy.ts';
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import { logisticLoss } from './cross-entropy.ts';
import type { Model, SizedModel } from './model.ts';

interface LinearDefinition extends Pick<Model, 'id' | 'title' | 'summary'> {
  /** The loss of the margin y·(w·x + b), where y is 1 or −1; [rows]. */
  readonly loss: (jax: Jax, margin: JaxArray) => JaxArray;
}

export const logisticRegression = linear({
  id: 'logistic-regression',
  title: 'Logistic regression',
  summary: 'One weight per feature of sparse samples in two classes',
  loss: logisticLoss,
});

export const linearSvm = linear({
  id: 'linear-svm',
  title: 'Linear SVM',
  summary: 'Hinge loss with one weight per feature of sparse samples in two classes',
  loss: ({ nn }, margin) => nn.relu(margin.neg().add(1)),
});

function linear({ id, title, summary, loss }: LinearDefinition): SizedModel {
  return {
    id,
    title,
    summary,
    ofFeatures: (features) => ({
      id,
      title,
      summary,
      inputs: {
        features: { type: 'i32', shape: ['any'], below: features },
        values: { type: 'f32', shape: ['any'] },
        labels: { type: 'i32', shape: [], below: 2 },
      },
      predictions: 1,
      metric: accuracy,
      tensors: [
        {
          name: 'weight',
          shape: [features],
          initialize: 'zeros',
          rowsOf: 'features',
        },
        { name: 'bias', shape: [1], initialize: 'zeros' },
      ],
      objective(jax, [weights, bias], { features: used, values, labels }) {
        used!.dispose();
        const scores = weights!.mul(values!).sum(1).add(bias!);
        const sides = labels!.astype(jax.numpy.float32).mul(2).sub(1);
        const margin = scores.mul(sides);
        const right = jax.numpy.greater(margin.ref, 0).astype(jax.numpy.float32);
        return { losses: loss(jax, margin), sums: [right] };
      },
    }),
  };
}
