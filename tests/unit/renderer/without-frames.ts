/** A page whose frames never come: in Node there are none, and clocks of drawings wait for them. */
import { afterEach, beforeEach, vi } from 'vitest';

declare global {
  function requestAnimationFrame(callback: (now: number) => void): number;
}

/** Gives the tests of a file such a page. */
export function withoutFrames(): void {
  beforeEach(() => void vi.stubGlobal('requestAnimationFrame', () => 0));
  afterEach(() => void vi.unstubAllGlobals());
}
