/** Losses by PyTorch and by WebAssembly: the recommendation model and the Transformer at their real sizes. */
import { FILES, lossesOf } from './torch-losses.ts';

lossesOf(...FILES['large']!);
