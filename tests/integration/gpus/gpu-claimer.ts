/** `gpu-claimer ID TITLE`: asks for a GPU once, says what came of it, and ends with its stdin. */
import * as koffi from 'koffi';
import { describeHolder } from '../../../src/agent/gpus/claim-holder.ts';
import { gpuClaims } from '../../../src/agent/gpus/gpu-claim.ts';

const [id = '', title = ''] = process.argv.slice(2);
process.title = title;
const claim = gpuClaims(
  koffi,
  (buffer) => Number(koffi.address(buffer.buffer)) + buffer.byteOffset,
)(id);
const words = claim.kind === 'held' ? describeHolder(claim.holder) : '';
process.stdout.write(`${JSON.stringify({ claim, words })}\n`);
process.stdin.on('end', () => process.exit(0)).resume();
