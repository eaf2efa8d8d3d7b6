/** Losses by PyTorch and by WebAssembly: vgg-16. */
import { FILES, lossesOf } from './torch-losses.ts';

lossesOf(...FILES['vgg-16']!);
