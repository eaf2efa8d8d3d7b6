/**
 * Sends the whole gradient, in place: `none`, and the warm-up of other methods. A residual
 * is sent with the gradient.
 */
import type { Region, Vector } from '../memory/arena.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import { follow, type Steps } from '../work/steps.ts';
import type { Mirror } from '../work/work.ts';
import type { Compressor, CompressorContext, ExchangeStatistics } from './method.ts';
import { requireBytes } from './payload-check.ts';

export class DenseExchange<V> implements Compressor<V> {
  readonly #sender: string;
  readonly #context: CompressorContext<unknown, V>;
  readonly #mirror: Mirror<V>;

  /** @param sender the method named in the error for an invalid payload */
  constructor(sender: string, context: CompressorContext<unknown, V>) {
    this.#sender = sender;
    this.#context = context;
    this.#mirror = context.work.mirror(context.length);
  }

  encode(gradient: V): Payload | Steps<Payload> {
    const { residual, work } = this.#context;
    if (residual !== undefined) {
      work.add(gradient, residual);
      work.clear(residual);
    }
    return follow(this.#mirror.of(gradient), densePayload);
  }

  decode(combined: Combined, out: V): ExchangeStatistics {
    const { work, world } = this.#context;
    return work.average(combined, out, world);
  }

  parse(data: Region): Payload {
    const { length } = this.#context;
    requireBytes(this.#sender, data, 4 * length);
    return { kind: 'dense', length, data };
  }
}

function densePayload({ offset, length }: Vector): Payload {
  return { kind: 'dense', length, data: { offset, bytes: 4 * length }, averages: true };
}
