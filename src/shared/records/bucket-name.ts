/**
 * Names a bucket by its tensors: `layer1.weight … layer3.bias`.
 * @param tensors in the bucket's order
 */
export function bucketName(tensors: readonly string[]): string {
  const [first = ''] = tensors;
  return tensors.length > 1 ? `${first} … ${tensors.at(-1)}` : first;
}
