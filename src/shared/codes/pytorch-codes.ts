/** Codes, with what each means and the next step: the Python package. */
import { codeGroup } from './code-group.ts';

export const pytorchCodes = codeGroup({
  title: 'The Python package',
  about:
    'Raised in your own program by the package `gradwire`, as `GradwireError`. Codes that begin with BRIDGE_ and OPTIMIZER_UNKNOWN may come from there, too.',
  codes: {
    ALREADY_ATTACHED: {
      means: 'A model is attached already.',
      next: 'Attach all models in one call: gw.attach([model_a, model_b], optimizer_a, optimizer_b).',
    },
    ALREADY_AVERAGED: {
      means: 'DDP averages these gradients in its backward pass.',
      next: 'Leave out the call of gw.allreduce, or attach the module without DDP.',
    },
    BRIDGE_TOO_LONG: {
      means: 'A message to the agent is too long.',
      next: 'Log fewer values, or train a model of fewer tensors.',
    },
    BRIDGE_UNREACHABLE: {
      means: 'The agent does not listen at the address in GRADWIRE_BRIDGE.',
      next: 'Start the program with gradwire exec; unset GRADWIRE_BRIDGE to run it without.',
    },
    AWAITED_TWICE: {
      means: 'Several runs on this machine wait for a program of as many ranks.',
      next: 'Set GRADWIRE_RUN to the id of one of them.',
    },
    GRADIENT_NOT_AVERAGED: {
      means: 'An optimiser begins its step with a gradient that was not averaged.',
      next: 'Wrap the model in DistributedDataParallel, or call gw.allreduce() after loss.backward().',
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
    MODELS_APART: {
      means:
        'A backward pass, or a call of gw.allreduce, was without gradients of one of the attached models. DDP would wait for ever.',
      next: 'Call (loss_a + loss_b).backward(); or, if the models step in turns, gw.attach(models, *optimizers, turns=True).',
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
      means: 'PyTorch is not installed, or older than 2.1.',
      next: 'Run: pip install --upgrade torch.',
    },
    RUN_ENDED: {
      means: 'A gradient is computed after the training has ended.',
      next: 'Call gw.end() after the last step, or leave it out.',
    },
    LOG_INVALID: {
      means: 'gw.log was given something that is no number, or has no name.',
      next: 'Call gw.log(loss=loss.item()).',
    },
    SCALER_UNKNOWN: {
      means: 'The attached scaler is not a GradScaler.',
      next: 'Call gw.attach(model, optimizer, scaler=scaler).',
    },
    NOT_ATTACHED: {
      means: 'There is no state before a model is attached.',
      next: 'Call gw.attach(model, optimizer) first.',
    },
    STATE_LATE: {
      means: 'A state is loaded after the first gradient was averaged.',
      next: 'Call gw.load_state_dict(state) right after gw.attach(model, optimizer).',
    },
    STATE_MISFIT: {
      means: 'What is loaded is no state, or that of another model.',
      next: 'Load what gw.state_dict() of the same model has returned.',
    },
    STATE_UNSETTLED: {
      means: 'The state is asked for within a backward pass.',
      next: 'Call gw.state_dict() after the optimiser’s step.',
    },
    TENSORS_CHANGED: {
      means: 'Other tensors are to be averaged than the first time.',
      next: 'Average all tensors of a step in one call, in the same order; attach models that step in turns with turns=True.',
    },
    TENSORS_MISSING: {
      means: 'There is nothing to average.',
      next: 'Attach a model, or call gw.allreduce(parameters).',
    },
    TENSOR_UNSUPPORTED: {
      means: 'Gradwire cannot average such a tensor.',
      next: 'Give parameters or dense tensors of float32, float16 or bfloat16.',
    },
    WEIGHTS_MISSING: {
      means:
        'The method lets replicas drift apart, and there are no weights to average.',
      next: 'Attach the model, or choose another method.',
    },
  },
});
