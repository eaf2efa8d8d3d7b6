/**
 * The final quality of models trained with ScaleCom at a usual batch size. Source: ScaleCom,
 * section 4, Table 2 and Figure 4.
 */
import { FNN3, LSTM, TRANSFORMER } from './scalecom-models.ts';
import { MARGIN_TEXT, TRAINING_SETTINGS } from './scalecom-training.ts';
import { usualBatch } from './scalecom-usual-batch.ts';

export const scalecomTable2 = usualBatch([FNN3, LSTM, TRANSFORMER], {
  id: 'scalecom-table-2',
  number: 'Table 2 and Figure 4',
  title: 'Accuracy with ScaleCom at a usual batch size',
  claim: {
    text:
      'At 65 to 400 times compression and a usual batch size, models trained with ScaleCom, without ' +
      'its filter, end very close to uncompressed training.',
    quoted: [
      {
        text: 'accuracy in %, uncompressed and compressed: ResNet34 on CIFAR10 (92 times) 93.78, 93.98; ResNet18 (112) 70.482, 70.172; ResNet50 (96) 76.442, 75.988; MobileNetV2 (155) 71.644, 71.524, these on ImageNet',
        where: 'Table 2',
      },
      {
        text: 'Transformer on WMT14: 27.64, 27.27 BLEU at 47 times, 27.24 at 65; bidirectional LSTM on SWB300: 10.4, 10.1 % word errors at 400',
        where: 'Table 2',
      },
    ],
  },
  rule: `Each of the three models ends without loss. ${MARGIN_TEXT}`,
  settings: [
    ...TRAINING_SETTINGS,
    {
      text: 'The Transformer at 47 times for 1,000 iterations: Adam with β₂ = 0.98, a rate of 0.002.',
      because:
        'Table 2: 47X. Vaswani et al., section 5.3, have this Adam. The rate is a quarter of that of Figure 1c, which has four times the workers.',
    },
  ],
  differences: [
    'Three small models on embedded data, not six on ImageNet, CIFAR10, WMT14 and SWB300: FNN-3 at 92 times, a small LSTM of bytes at 100 times instead of 400, a small Transformer of bytes, measured by its perplexity, not by BLEU.',
    'Two workers × 32 images or 4 windows; the paper has 4 to 8 workers.',
    'Entries are chosen from the whole gradient, with one compression rate for all layers, not by chunks and with rules for each layer.',
  ],
});
