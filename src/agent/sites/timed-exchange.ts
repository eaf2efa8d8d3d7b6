/**
 * Times an exchange of several messages. Work before a message is compression, work after the
 * last is decompression; which one it was is known when the next message is sent. Messages
 * time themselves.
 */
import type { GradientBucket } from '../methods/bucket-compressor.ts';
import type { Communicate, ExchangeStatistics } from '../methods/method.ts';
import type { PhaseClock, Stretch } from '../profile/phase-clock.ts';
import type { Resume } from '../work/steps.ts';

/**
 * @param bucket bucket of a method with several rounds
 * @param stream the bucket's stream
 */
export async function timedExchange(
  clock: PhaseClock,
  bucket: GradientBucket,
  iteration: number,
  communicate: Communicate,
  stream?: number,
): Promise<ExchangeStatistics> {
  let stretch: Stretch | undefined;
  let messages = 0;
  let talking = false;
  /** Ends the idle time until a device answers, which belongs to `compress`. */
  let idle = clock.expect('compress', stream);
  const resume: Resume = (work) => {
    idle();
    stretch = clock.stretch(messages === 0 ? 'compress' : 'decompress', stream);
    try {
      return work();
    } finally {
      stretch.end();
      if (!talking) idle = clock.expect('compress', stream);
    }
  };
  const talk: Communicate = async (request) => {
    stretch?.rename('compress');
    messages++;
    talking = true;
    try {
      return await communicate(request);
    } finally {
      talking = false;
    }
  };
  try {
    return await bucket.exchange(iteration, talk, resume);
  } finally {
    idle();
  }
}
