/** Losses by PyTorch and by WebAssembly: lstm-ptb. */
import { FILES, lossesOf } from './torch-losses.ts';

lossesOf(...FILES['lstm-ptb']!);
