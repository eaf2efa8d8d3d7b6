/**
 * The final accuracy of a residual network trained with ScaleCom at a usual batch size. Source: ScaleCom,
 * section 4, Table 2 and Figure 4.
 */
import { RESNET } from './scalecom-models.ts';
import { MARGIN_TEXT } from './scalecom-training.ts';
import { usualBatch } from './scalecom-usual-batch.ts';

/** Seeds by which the settings were not examined. */
const SEEDS = [11, 12, 13, 14, 15];

export const scalecomTable2Resnet = usualBatch([RESNET], SEEDS, {
  id: 'scalecom-table-2-resnet',
  number: 'Table 2, ResNet',
  title: 'Accuracy of a residual network with ScaleCom at a usual batch size',
  claim: {
    text:
      'At 92 to 112 times compression and a usual batch size, residual networks trained with ScaleCom, without ' +
      'its filter, end very close to uncompressed training.',
    quoted: [
      {
        text: 'accuracy in %, uncompressed and compressed: ResNet34 on CIFAR10 (92 times) 93.78, 93.98; ResNet18 (112) 70.482, 70.172; ResNet50 (96) 76.442, 75.988, these on ImageNet',
        where: 'Table 2',
      },
    ],
  },
  rule: `The network ends without loss. ${MARGIN_TEXT}`,
  settings: [
    {
      text: '92 times.',
      because: 'Table 2: 92X for ResNet34 on CIFAR10.',
    },
    {
      text: 'Two workers × 32 images.',
      because:
        'Table 2: a batch of 128 by four GPUs for ResNet34 on CIFAR10, 32 for each. Two workers are ours: more would take hours on two processors.',
    },
    {
      text: 'SGD with momentum 0.9, a rate of 0.05, a weight decay of 0.0001; the rate grows over the first tenth and then falls along a cosine.',
      because:
        'Section 4: “we adopt hyper-parameter settings from” He et al., who have this momentum and decay and a rate of 0.1 for batches of 128; half the batch has half the rate. They lower the rate by steps; a cosine needs no choice of steps in so short a training.',
    },
    {
      text: '300 iterations.',
      because:
        'Ours: more than two passes over the images; more would take hours on two processors. Without the filter the residual drains in 1/ratio iterations, 92.',
    },
    {
      text: 'The first tenth uncompressed.',
      because:
        'Section 4: “we use 1-5 warm-up epochs (<10% total training epochs) for compression”; “No compression is applied during the warm-up period.”',
    },
  ],
  differences: [
    'ResNet-20 on 8,000 embedded images of shapes, not ResNet34 on CIFAR10 and ResNet18 and 50 on ImageNet.',
    'Two workers × 32 images; the paper has 4 to 8 workers.',
    'Entries are chosen from the whole gradient, with one compression rate for all layers, not by chunks and with rules for each layer.',
  ],
});
