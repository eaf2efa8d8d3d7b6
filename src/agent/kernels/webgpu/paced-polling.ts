/**
 * Limits how often Dawn polls a software GPU. While something is awaited, Dawn polls in
 * every turn of the event loop, by `setImmediate`, which keeps a whole core busy. With a
 * real GPU that is the quickest way; a software GPU needs that core to compute. So there
 * Dawn polls once per millisecond. Measured on SwiftShader: top-k of a million elements in
 * 0.7 of the processor time, small kernels in half.
 *
 * Verified with webgpu 0.6.2: Dawn takes `setImmediate` from the global object whenever it
 * calls it, and gives it a native function without a name. If that changes, waiting costs
 * what it costs without this.
 */
const INTERVAL_MS = 1;
const NATIVE = /^function \(\) \{\s*\[native code\]\s*\}$/;

let paced = false;

/** Takes effect for the rest of this thread's life. */
export function pacePolling(): void {
  if (paced) return;
  paced = true;
  globalThis.setImmediate = new Proxy(globalThis.setImmediate, {
    apply(immediately, self, given: Parameters<typeof setImmediate>): unknown {
      const [callback] = given;
      if (!isPoll(callback)) return Reflect.apply(immediately, self, given);
      return setTimeout(callback, INTERVAL_MS);
    },
  });
}

/** Functions that resolve a promise are native as well, but no constructors. */
function isPoll(callback: unknown): callback is () => void {
  return (
    typeof callback === 'function' &&
    callback.name === '' &&
    Object.hasOwn(callback, 'prototype') &&
    NATIVE.test(Function.prototype.toString.call(callback))
  );
}
