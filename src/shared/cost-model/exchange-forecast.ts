/** The predicted exchange of a step under a plan, as ranks on another machine report it. */
import { z } from 'zod';

const seconds = z.number().min(0);
const bytes = z.number().min(0);

export const exchangeForecastSchema = z.object({
  /** The largest bucket's collective; `allgather` if nothing is summed. */
  collective: z.string().max(100),
  /** Seconds of a step; the next four are seconds as well. */
  latency: seconds,
  bandwidth: seconds,
  reduction: seconds,
  compress: seconds,
  decompress: seconds,
  /** Bytes of the payloads of one rank in a step. */
  payloadBytes: bytes,
  /** Bytes that the busiest rank sends in a step, framing excluded. */
  wireBytes: bytes,
});
export type ExchangeForecast = Readonly<z.infer<typeof exchangeForecastSchema>>;

/**
 * A forecast in other units, or of several exchanges.
 * @param time factor on its times
 * @param bytes factor on its bytes; default: 1
 */
export const scaledForecast = (
  {
    bandwidth,
    collective,
    compress,
    decompress,
    latency,
    payloadBytes,
    reduction,
    wireBytes,
  }: ExchangeForecast,
  { bytes = 1, time }: { readonly time: number; readonly bytes?: number },
): ExchangeForecast => ({
  collective,
  latency: time * latency,
  bandwidth: time * bandwidth,
  reduction: time * reduction,
  compress: time * compress,
  decompress: time * decompress,
  payloadBytes: bytes * payloadBytes,
  wireBytes: bytes * wireBytes,
});
