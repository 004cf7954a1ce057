import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { cacheFolder } from '@pitboss/engines/engine-settings'
import { withPrivateApt } from '@pitboss/engines/fetch/private-apt'
import { createProgress } from '@pitboss/engines/fetch/progress'
import { runProgram } from '@pitboss/engines/fetch/run-program'

/** Debian's stable suite, of which the base layer is made. */
export const baseSuite = 'trixie'

/** Node's shared libraries, the licences of GCC's, and the files that say which Debian it is. */
const names = ['base-files', 'gcc-14-base', 'libc6', 'libgcc-s1', 'libstdc++6']

/** A Debian package as it was fetched. */
export type BasePackage = {
  readonly name: string
  readonly version: string
  readonly architecture: string
  /** The package's control fields, as `dpkg` keeps them. */
  readonly control: string
  readonly file: string
  readonly sha256: string
}

/**
 * Fetches the packages of the base layer into the cache of the engines, checked by apt against the archive's
 * signature. @throws EngineError where the machine has no apt or the archive cannot be reached
 */
export async function fetchBasePackages(env: NodeJS.ProcessEnv): Promise<BasePackage[]> {
  const progress = createProgress()
  const fetched = await withPrivateApt({ cacheDir: cacheFolder(env), progress, suite: baseSuite }, (apt) =>
    apt.download(names),
  )
  const packages = await Promise.all(fetched.map(({ file }) => readPackage(file)))
  return packages.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

async function readPackage(file: string): Promise<BasePackage> {
  const control = await runProgram('dpkg-deb', ['-f', file])
  const field = (name: string) => {
    const value = new RegExp(`^${name}: (.*)$`, 'm').exec(control)?.[1]
    if (value === undefined) throw new Error(`${file} has no field ${name}`)
    return value
  }
  return {
    name: field('Package'),
    version: field('Version'),
    architecture: field('Architecture'),
    control,
    file,
    sha256: createHash('sha256').update(readFileSync(file)).digest('hex'),
  }
}
