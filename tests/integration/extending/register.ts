/** Loaded by every process of the world, before anything of Gradwire runs in it. */
import { registerCollective } from '../../../src/agent/collectives/registry.ts';
import { registerMethod } from '../../../src/agent/methods/registry.ts';
import { registerDataset } from '../../../src/agent/training/datasets/registry.ts';
import { registerModel } from '../../../src/agent/training/models/registry.ts';
import { registerOrderAction } from '../../../src/agent/exchange/order-actions.ts';
import { registerOrder } from '../../../src/shared/protocol/register-order.ts';
import { greet, greeting } from './greet.ts';
import { line } from './line.ts';
import { star } from './star.ts';
import { striding } from './striding.ts';
import { stripes } from './stripes.ts';

registerMethod(striding);
registerCollective(star);
registerModel(line);
registerDataset(stripes);
registerOrder(greet);
registerOrderAction(greet.type, greeting);
