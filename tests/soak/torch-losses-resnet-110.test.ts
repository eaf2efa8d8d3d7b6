/** Losses by PyTorch and by WebAssembly: resnet-110. */
import { FILES, lossesOf } from './torch-losses.ts';

lossesOf(...FILES['resnet-110']!);
