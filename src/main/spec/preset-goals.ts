/** Goals of users by the preset that shows how to get there. */
export const PRESET_GOALS: Readonly<Record<string, string>> = {
  'digits-slow-network': 'An accuracy soonest on a slow network',
  'digits-a2sgd': 'The fewest bytes in each step',
  'digits-local-steps': 'The fewest exchanges',
  'digits-asynchronous': 'Ranks of different speeds',
  'digits-pipeline': 'A large model, little memory in each rank',
  'sparse-logistic': 'Exact sums of sparse gradients',
  'synthetic-vgg': 'An exchange hidden under computing',
};
