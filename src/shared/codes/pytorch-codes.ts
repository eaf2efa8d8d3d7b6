/** Codes, with what each means and the next step: the Python package. */
import { codeGroup } from './code-group.ts';

export const pytorchCodes = codeGroup({
  title: 'The Python package',
  about:
    'Raised in your own program by the package `gradwire`, as `GradwireError`. Codes that begin with BRIDGE_ and OPTIMIZER_UNKNOWN may come from there, too.',
  codes: {
    ALREADY_ATTACHED: {
      means: 'A model is attached already.',
      next: 'Attach one model; wrap several in one module to train them together.',
    },
    BRIDGE_TOO_LONG: {
      means: 'A message to the agent is too long.',
      next: 'Log fewer values, or train a model of fewer tensors.',
    },
    BRIDGE_UNREACHABLE: {
      means: 'The agent does not listen at the address in GRADWIRE_BRIDGE.',
      next: 'Start the program with gradwire exec; unset GRADWIRE_BRIDGE to run it without.',
    },
    HOOK_TAKEN: {
      means: 'The model has another communication hook.',
      next: 'Leave out register_comm_hook: Gradwire compresses and averages.',
    },
    MODEL_CHANGED: {
      means:
        'DDP averages a parameter that the model did not have when it was attached.',
      next: 'Attach the model after its parameters are thawed and DDP is made.',
    },
    MODEL_EMPTY: {
      means: 'The model has no elements that are trained.',
      next: 'Set requires_grad.',
    },
    MODEL_NOT_DISTRIBUTED: {
      means: 'The attached model is not a DistributedDataParallel.',
      next: 'Wrap it: model = DistributedDataParallel(model).',
    },
    MODEL_UNSUPPORTED: {
      means: 'The model uses something that Gradwire cannot average.',
      next: 'Follow the message.',
    },
    NOT_JOINED: { means: 'The process has not joined.', next: 'Call gradwire.join().' },
    OPTIMIZER_MISSING: {
      means: 'attach was given no optimiser.',
      next: 'Call gw.attach(model, optimizer).',
    },
    PYTORCH_MISSING: {
      means: 'PyTorch is not installed.',
      next: 'Run: pip install torch.',
    },
    RUN_ENDED: {
      means: 'A gradient is computed after the training has ended.',
      next: 'Call gw.end() after the last step, or leave it out.',
    },
    SCALER_UNKNOWN: {
      means: 'The attached scaler is not a GradScaler.',
      next: 'Call gw.attach(model, optimizer, scaler=scaler).',
    },
  },
});
