/** Codes, with what each means and the next step: specs. */
import { codeGroup } from './code-group.ts';

export const specCodes = codeGroup({
  title: 'Specs',
  about:
    'What an experiment may say. Keys that nothing reads are refused, not ignored.',
  codes: {
    ACTIVATIONS_MISFIT: {
      means: 'exchange.activations is set, but no activations are sent.',
      next: 'Remove it, or set parallelism.pipeline.',
    },
    BACKENDS_DIFFER: {
      means: 'backend: auto chose different backends for different ranks.',
      next: 'Choose one for all: backend: wasm or backend: webgpu.',
    },
    BACKEND_UNAVAILABLE: {
      means: 'The backend does not work here, or cannot hold what the method needs.',
      next: 'Follow the reason in the message, or use backend: wasm.',
    },
    BACKEND_UNKNOWN: {
      means: 'There is no such backend.',
      next: 'Use one of the backends in the message.',
    },
    COLLECTIVE_DUPLICATE: {
      means: 'A collective with this id is already registered.',
      next: 'Register it under another id, once per process.',
    },
    COLLECTIVE_INVALID: {
      means: 'The definition of a collective cannot work.',
      next: 'Change it; docs/extending.md says what it needs.',
    },
    COLLECTIVE_MISFIT: {
      means: 'The collective does not accept what the method sends.',
      next: 'Use one of the collectives in the message, or collective: auto.',
    },
    COLLECTIVE_UNKNOWN: {
      means: 'There is no such collective.',
      next: 'List them with gradwire collectives.',
    },
    COLUMNS_IDLE: {
      means: 'The data set has no columns to choose.',
      next: 'Remove workload.columns.',
    },
    DATASET_DUPLICATE: {
      means: 'A data set with this id is already registered.',
      next: 'Register it under another id, once per process.',
    },
    DATASET_INVALID: {
      means: 'The definition of a data set cannot work.',
      next: 'Change it; docs/extending.md says what it needs.',
    },
    DATASET_UNKNOWN: {
      means: 'There is no such data set.',
      next: 'See docs/reference/data-sets.md, or the values in the message.',
    },
    DELTA_INVALID: {
      means: 'A stream cannot turn dense at this share of its elements.',
      next: 'Give a number in the range that the message names, or auto.',
    },
    DELTA_MISFIT: {
      means: 'delta is set, but no sparse stream is summed that could turn dense.',
      next: 'Remove delta, or use a method with a sparse payload.',
    },
    EXCHANGE_INVALID: {
      means: 'A value of the exchange or of a switch is not valid.',
      next: 'Correct the value in the message.',
    },
    EXCHANGE_UNKNOWN_KEY: {
      means: 'The exchange has no such key.',
      next: 'Use the suggested key.',
    },
    FEATURES_IDLE: {
      means: 'The data set has no sparse samples, so workload.features has no effect.',
      next: 'Remove it.',
    },
    FEATURES_TOO_FEW: {
      means: 'workload.features leaves no room for categories.',
      next: 'Raise it to the number in the message.',
    },
    LAYER_UNKNOWN: {
      means: 'No tensor of the model matches a pattern of exchange.layers.',
      next: 'Use a name from the message.',
    },
    METHOD_DUPLICATE: {
      means: 'A method with this id is already registered.',
      next: 'Register it under another id, once per process.',
    },
    METHOD_INVALID: {
      means: 'The definition of a method cannot work.',
      next: 'Change it; docs/extending.md says what it needs.',
    },
    METHOD_NEEDS_PEERS: {
      means:
        'Ranks must agree on something in this method, which ranks that push to servers do not.',
      next: 'Use another method, or parallelism.kind: synchronous.',
    },
    METHOD_OPTIMIZER_MISFIT: {
      means:
        'The method and the optimiser, or the method and servers, do not fit together.',
      next: 'Change the setting that the message names.',
    },
    METHOD_PARAMETER_IDLE: {
      means: 'A parameter has no effect beside another one.',
      next: 'Change one of them, as the message says.',
    },
    METHOD_PARAMETER_INVALID: {
      means: 'A parameter of the method is outside its range.',
      next: 'See its range with gradwire methods ID.',
    },
    METHOD_PARAMETER_UNKNOWN_KEY: {
      means: 'The method has no such parameter.',
      next: 'See its parameters with gradwire methods ID.',
    },
    METHOD_UNKNOWN: {
      means: 'There is no such method.',
      next: 'List them with gradwire methods.',
    },
    MODEL_DATASET_MISMATCH: {
      means: 'The model and the data set do not fit together.',
      next: 'Choose another of the two, as the message says.',
    },
    MODEL_DUPLICATE: {
      means: 'A model with this id is already registered.',
      next: 'Register it under another id, once per process.',
    },
    MODEL_FILE_INVALID: {
      means: "The model's file does not define a model.",
      next: 'Correct it; docs/models.md says what a model needs.',
    },
    MODEL_FILE_UNREADABLE: {
      means: "The model's file cannot be read.",
      next: 'Give the path of a TypeScript or JavaScript file, or the name of a model.',
    },
    MODEL_INVALID: {
      means: 'The model computes something of the wrong shape or kind.',
      next: 'Correct it; docs/models.md says what it needs.',
    },
    MODEL_UNKNOWN: {
      means: 'There is no such model.',
      next: 'List them with gradwire models, or name a file.',
    },
    NETWORK_NODE_UNKNOWN: {
      means:
        'A pair of the emulated network names a machine that the run does not have.',
      next: 'Name machines of world.nodes.',
    },
    NETWORK_PAIR_REPEATED: {
      means: 'The emulated network gives the same link twice.',
      next: 'Remove one of them.',
    },
    NETWORK_TOO_LONG: {
      means: 'Bandwidth times latency is more than an emulated link can hold.',
      next: 'Lower the bandwidth or the latency.',
    },
    NETWORK_UNSUPPORTED: {
      means: 'The network cannot be emulated in this run.',
      next: 'Remove network, or put all ranks on one node.',
    },
    NODES_IDLE: {
      means: 'The run names more machines than it has ranks.',
      next: 'Name fewer machines, or raise world.ranks.',
    },
    NODES_SAME: {
      means: 'Two names of machines are the same machine.',
      next: 'Name it once.',
    },
    OPTIMIZER_OPTION_IDLE: {
      means: 'An option of the optimiser has no effect here.',
      next: 'Remove it, or set what the message names.',
    },
    OPTIMIZER_TABLE_MISFIT: {
      means: 'The optimiser cannot update a table of which a batch uses a few rows.',
      next: 'Use another optimiser, or remove the option in the message.',
    },
    OPTIMIZER_UNKNOWN: {
      means: 'There is no such optimiser.',
      next: 'Use one of the values in the message.',
    },
    OVERLAP_MISFIT: {
      means: 'Overlap is not possible with these settings.',
      next: 'Change the setting that the message names.',
    },
    PARALLELISM_MISFIT: {
      means: 'The kind of parallelism does not fit the other settings.',
      next: 'Change the setting that the message names.',
    },
    PIPELINE_MISFIT: {
      means: 'The model cannot be split into these stages.',
      next: 'Change the setting that the message names.',
    },
    PRESET_UNKNOWN: {
      means: 'There is neither a preset nor a file of that name.',
      next: 'List the presets with gradwire presets.',
    },
    PROFILE_UNKNOWN: {
      means: 'There is no such profile of synthetic gradients.',
      next: 'Use one of the profiles in the message.',
    },
    QUANTIZE_MISFIT: {
      means: 'Neither this collective nor another quantises such payloads.',
      next: 'Use a collective in the message, or a method with a dense or sparse payload.',
    },
    RESIDUAL_UNITS_MISFIT: {
      means: 'residualUnits: update does not fit the method or the optimiser.',
      next: 'Remove it, or change what the message names.',
    },
    SAMPLES_IDLE: {
      means: 'The number of samples of this data set is fixed.',
      next: 'Remove workload.samples, or use a data set in the message.',
    },
    SCHEDULE_INCOMPLETE: {
      means:
        'A schedule of the learning rate lacks an option, or has one without effect.',
      next: 'Set or remove the option in the message.',
    },
    SERVERS_INVALID: {
      means: 'The number of servers is not possible with these ranks.',
      next: 'Give a number from 1 to the number of ranks.',
    },
    SERVERS_MISFIT: {
      means: 'servers is set, but the collective has no servers.',
      next: 'Remove servers, or use a collective in the message.',
    },
    SPEC_INVALID: {
      means: 'A value of the spec is outside its range or of the wrong type.',
      next: 'Correct the value at the path in the message.',
    },
    SPEC_UNKNOWN_KEY: {
      means: 'The spec has a key that does not exist.',
      next: 'Use the suggested key.',
    },
    SPEC_UNREADABLE: {
      means: 'The text is neither YAML nor JSON, or not one document.',
      next: 'Correct the line in the message; gradwire presets shows examples.',
    },
    SPLIT_UNKNOWN: {
      means: 'parallelism.pipeline.split names a layer that the model does not have.',
      next: 'Use a layer in the message.',
    },
    SYNTHETIC_INVALID: {
      means: 'workload.synthetic does not fit the model or another setting.',
      next: 'Remove it, or use the model in the message.',
    },
    TORCH_MISFIT: {
      means:
        'PyTorch cannot compute what the spec asks for, or python is given without it.',
      next: 'Change the setting in the message, or use another backend.',
    },
    WORKDIR_MISSING: {
      means: 'workload.workdir does not exist on that machine.',
      next: 'Create it on every machine of the run, or correct it.',
    },
  },
});
