/** The bundle's entry: what the CLI's `serve` and `start` load by its file. */
export { serve, type ServeOptions } from './serve.ts';
export { start } from './start.ts';
