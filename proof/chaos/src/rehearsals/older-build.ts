import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepareBase } from '@pitboss/bench/compare/prepare-base'
import type { Cleanup } from '@pitboss/bench/harness/cleanup'
import type { ServiceName } from '@pitboss/stack/stack-options'
import type { OtherReplica } from '@pitboss/stack/stack-services'
import type { Stack } from '@pitboss/stack/start-stack'
import { openWorld, twoOfEach, type World } from './open-world.ts'

/** The order of docs/versioning.md, "The order of an upgrade". */
export const order: readonly ServiceName[] = ['auth', 'wallet-bridge', 'rounds', 'webhooks', 'gateway']
const demoMain = fileURLToPath(new URL('../../../../tools/stack/src/demo-main.ts', import.meta.url))
const wordsKept = 2000

/** One replica of each service of an older build and one of this, with clients at work. */
export type Mixture = {
  readonly world: World
  /** How a replica of the older build is started. */
  readonly older: OtherReplica
  /** How one of this build is started beside it. */
  readonly newer: OtherReplica
  /** Whether this build needs settings for the time beside the older one, and a second roll-out without. */
  readonly isBridged: boolean
  /** The number of this build's replica of each service. */
  readonly ofThisBuild: number
}

/** Installs the build of a commit and starts it beside this one; the demo has played on both by then. */
export async function openMixture(from: string, folder: string, cleanup: Cleanup): Promise<Mixture> {
  const root = join(folder, 'older-build')
  prepareBase(from, root, cleanup)
  const older = { root }
  // An older gateway sends no tokens: this build takes calls without one until the second roll-out.
  const sendsTokens = existsSync(join(root, 'libs/bus/src/call-tokens.ts'))
  // It takes no tokens that hold another one: auth mints plain ones until then.
  const claims = readFileSync(join(root, 'libs/contracts/src/token-claims.ts'), 'utf8')
  const environment = {
    ...(sendsTokens ? {} : { PITBOSS_CALL_TOKENS: 'accept' }),
    ...(/\bfwd\b/.test(claims) ? {} : { PITBOSS_EDGE_TOKENS: 'plain' }),
  }
  const isBridged = Object.keys(environment).length > 0
  const newer = isBridged ? { environment } : {}
  const world = await openWorld(folder, cleanup, {
    replicas: twoOfEach,
    started: async (stack) => {
      for (const name of order) {
        await replace(stack, name, [1], older)
        if (isBridged) await replace(stack, name, [2], newer)
      }
      await playDemo(stack.dataDir)
    },
  })
  return { world, older, newer, isBridged, ofThisBuild: isBridged ? 4 : 2 }
}

/** @returns how long the old ones took to end */
export async function replace(
  stack: Stack,
  name: ServiceName,
  old: readonly number[],
  other: OtherReplica,
): Promise<string> {
  const tookS: string[] = []
  for (const replica of old) {
    await stack.addReplica(name, other)
    const fromMs = performance.now()
    await stack.removeReplica(name, replica)
    tookS.push(((performance.now() - fromMs) / 1000).toFixed(2))
  }
  return `drained within ${tookS.join(' and ')} s`
}

async function playDemo(dataDir: string): Promise<void> {
  const child = spawn(process.execPath, [demoMain, '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let words = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(-wordsKept)
    })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the demo ended with ${String(code)}:\n${words}`)
}
