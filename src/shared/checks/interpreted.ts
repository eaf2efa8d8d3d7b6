/**
 * Options for zod to check a value by walking through its schema. By default zod compiles code
 * for each schema when it is first used. That takes 5 to 10 ms for a large one, in every
 * process, and saves a third of a check that takes 20 µs: it pays for records of iterations
 * alone.
 */
export const INTERPRETED = { jitless: true } as const;
