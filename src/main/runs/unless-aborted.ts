/** A wait that a signal ends. */

/** Awaits the promise, but rejects once the signal aborts, however long the promise takes. */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const abandon = (): void => {
      reject(signal!.reason as Error);
    };
    if (signal?.aborted === true) abandon();
    signal?.addEventListener('abort', abandon);
  });
  const result = await Promise.race([promise, aborted]);
  signal?.throwIfAborted();
  return result;
}
