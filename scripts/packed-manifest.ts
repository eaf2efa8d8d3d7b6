/** The manifest of the package, made from the checkout's, and what goes into it of others. */

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

export interface Lock {
  readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Keys that mean something only in the checkout. */
const OWN = [
  'scripts',
  'devDependencies',
  'allowScripts',
  'overrides',
  'files',
  'main',
];

/** A package that lies inside, with what it needs. Installed by npm it would compile addons. */
export const BUNDLED = ['ssh2', 'asn1', 'bcrypt-pbkdf', 'safer-buffer', 'tweetnacl'];

export function packedManifest(manifest: Manifest): Manifest {
  const kept = Object.entries(manifest).filter(([key]) => !OWN.includes(key));
  return {
    ...(Object.fromEntries(kept) as unknown as Manifest),
    bundleDependencies: BUNDLED.filter((name) => name in manifest.dependencies),
  };
}

/** The manifest of a package inside: without scripts, and without addons that it can do without. */
export function bundledManifest(manifest: Manifest): Manifest {
  const kept = Object.entries(manifest).filter(
    ([key]) => !['scripts', 'devDependencies', 'optionalDependencies'].includes(key),
  );
  return Object.fromEntries(kept) as unknown as Manifest;
}

/** The part of the lock that deploying to other processors reads. */
export function nativeLock({ packages }: Lock): Lock {
  const natives = Object.entries(packages).filter(([place]) =>
    /^node_modules\/(@koromix\/koffi-|node-(linux|win|bin)-)/.test(place),
  );
  return { packages: Object.fromEntries(natives) };
}
