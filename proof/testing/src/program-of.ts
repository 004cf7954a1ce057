import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the bundles of this test run; absent in a file that is run by itself. */
const bundles = process.env.PITBOSS_SERVICE_ENTRIES

/** The program that a test starts as a process of its own: the bundle of the test run, else the source. */
export function programOf(name: 'auth' | 'rounds' | 'wallet-bridge' | 'webhooks' | 'ops'): string {
  if (bundles !== undefined) return join(bundles, `${name}-main.js`)
  const folder = name === 'ops' ? 'tools/ops' : `services/${name}`
  return fileURLToPath(new URL(`../../../${folder}/src/main.ts`, import.meta.url))
}
