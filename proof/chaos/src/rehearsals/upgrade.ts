import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepareBase } from '@pitboss/bench/compare/prepare-base'
import type { ServiceName } from '@pitboss/stack/stack-options'
import type { OtherReplica } from '@pitboss/stack/stack-services'
import type { Stack } from '@pitboss/stack/start-stack'
import { booksOf, openWorld, twoOfEach, type World } from './open-world.ts'
import type { Rehearsal, Step } from './rehearsal.ts'

/** The order of docs/versioning.md, "The order of an upgrade". */
const order: readonly ServiceName[] = ['auth', 'wallet-bridge', 'rounds', 'webhooks', 'gateway']
const mixtureMs = 20_000
const demoMain = fileURLToPath(new URL('../../../../tools/stack/src/demo-main.ts', import.meta.url))
const wordsKept = 2000

/** Every replica of every service gives way to a new one, one after the other, as a roll-out does it. */
export const upgrade: Rehearsal = {
  about: 'a rolling upgrade of every service, each new replica before the old one drains',
  success: 'every replica was replaced, and no client lost a request',
  async open(folder, cleanup, { from }) {
    if (from !== null) return openFrom(from, folder, cleanup)
    const world = await openWorld(folder, cleanup, { replicas: twoOfEach })
    return { clients: world.clients, steps: [...rolls(world, {}), booksOf(world)] }
  },
}

/** An older build beside this one, then alone, then upgraded. */
async function openFrom(
  from: string,
  folder: string,
  cleanup: Parameters<Rehearsal['open']>[1],
): ReturnType<Rehearsal['open']> {
  const root = join(folder, 'older-build')
  prepareBase(from, root, cleanup)
  const older = { root }
  // An older gateway sends no tokens: this build takes calls without one until the second roll-out.
  const sendsTokens = existsSync(join(root, 'libs/bus/src/call-tokens.ts'))
  const newer = sendsTokens ? {} : { environment: { PITBOSS_CALL_TOKENS: 'accept' } }
  const world = await openWorld(folder, cleanup, {
    replicas: twoOfEach,
    started: async (stack) => {
      for (const name of order) {
        await replace(stack, name, [1], older)
        if (!sendsTokens) await replace(stack, name, [2], newer)
      }
      await playDemo(stack.dataDir)
    },
  })
  /** The number of that replica of each service. */
  const ofThisBuild = sendsTokens ? 2 : 4
  return {
    clients: world.clients,
    steps: [
      {
        name: `one replica of each service is of this build, one of ${from}`,
        async run() {
          await world.clients.playFor(mixtureMs)
          return `the demo played on the mixture: every check passed; clients play for ${mixtureMs / 1000} s`
        },
      },
      ...[...order].reverse().map((name) => ({
        name: `${name} goes back to ${from}, as after an upgrade that failed`,
        run: () => replace(world.stack, name, [ofThisBuild], older),
      })),
      ...rolls(world, newer),
      ...(sendsTokens ? [] : rolls(world, {})),
      booksOf(world),
    ],
  }
}

function rolls(world: World, other: OtherReplica): Step[] {
  const how = other.environment === undefined ? '' : ', which still takes calls without a token'
  return order.map((name) => ({
    name: `${name}: twice a new replica${how} starts, then an old one drains`,
    run: () => replace(world.stack, name, world.replicasOf(name), other),
  }))
}

/** @returns how long the old ones took to end */
async function replace(
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
