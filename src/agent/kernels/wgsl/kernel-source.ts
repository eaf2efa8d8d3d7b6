/**
 * A kernel in WGSL: its parameters, u32 each, and its bindings, arrays of u32 that hold
 * f32 by their bits. Both reach the code by name. A dispatch must give what the kernel
 * declares; the types check it.
 */

/** The way in which a kernel uses an array. */
type Access = 'read' | 'write' | 'atomic';

export interface KernelSource<P extends string = string, B extends string = string> {
  readonly name: string;
  readonly parameters: readonly P[];
  readonly bindings: Readonly<Record<B, Access>>;
  /**
   * WGSL with a `main`. It finds `parameters.<name>` for each parameter; an array by each
   * binding's name, its vector beginning at element `parameters.<name>At`; and
   * `parameters.zero`, which is 0, but no compiler knows.
   */
  code(subgroups: boolean): string;
}
