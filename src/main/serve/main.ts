/** The bundle's entry, which the CLI's `serve` and `start` load by its file. */
export { serve, type ServeOptions } from './serve.ts';
export { start } from './start.ts';
