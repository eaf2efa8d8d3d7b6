/** The package's entry `gradwire/engine`: the engine, once the Node that runs it is known to do. */
import './engine-node.ts';
export * from './engine.ts';
