import { cpSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '@pitboss/testing/wait-for'
import { z } from 'zod'
import { brokerPid, killBroker } from '../faults/broker-process.ts'
import { type Collections, readDocuments, setBackDocuments, withDatabase } from '../faults/database-copy.ts'
import { pidsOf, signalAll } from '../faults/find-processes.ts'
import { allIsWell, booksOf, openWorld, twoOfEach, type World } from './open-world.ts'
import type { Rehearsal, Step } from './rehearsal.ts'
import { watchDeliveries } from './watch-deliveries.ts'

const playMs = 8000
/** Commands that a process had sent when it was stopped have ended by then. */
const quietMs = 700
const backWithinMs = 60_000
const rewound = z.looseObject({
  seen: z.number(),
  repaired: z.number(),
  unchanged: z.number(),
  parked: z.number(),
})
const audited = z.looseObject({ rounds: z.number(), missing: z.array(z.unknown()) })
/** An event may be in the stream before the copy and be recorded after it. Source: docs/runbook.md. */
const marginMs = 600_000
const because = ['--yes', '--reason', 'a backup was restored']

/**
 * A backup of one engine comes back beside the other as it is now. docs/runbook.md says which commands repair
 * what, and what is lost for good; here they are run, and held to it.
 */
export const backup: Rehearsal = {
  about: 'a backup of the database of webhooks, then one of the broker, is restored beside all that went on',
  success: 'two backups were restored, and nothing was lost or doubled',
  async open(folder, cleanup) {
    const world = await openWorld(folder, cleanup, { replicas: twoOfEach })
    const { clients, ops, since } = world
    const delivered = watchDeliveries(world.demo)
    /** Rounds that begin later are left out: of those some event is always on its way. */
    const noneMissing = async () => {
      const until = now()
      let missing: readonly unknown[] = []
      const audit = async () => {
        const found = audited.parse(await ops('event', 'audit', '--from', since, '--to', until))
        missing = found.missing
        return missing.length === 0 ? found.rounds : null
      }
      const rounds = await waitFor(audit, { timeoutMs: backWithinMs, what: 'no event to be missing' }).catch(
        (error: unknown) => {
          throw new Error(`missing: ${JSON.stringify(missing)}`, { cause: error })
        },
      )
      return `${rounds} rounds looked at, no event is missing`
    }
    return {
      clients,
      steps: [
        allIsWell(world, delivered),
        ...webhooksStepsOf(world, delivered),
        ...brokerStepsOf(world, delivered),
        {
          name: 'ops event audit: what has no recorded event',
          run: async () => {
            await clients.playFor(playMs)
            return noneMissing()
          },
        },
        booksOf(world),
      ],
    }
  },
}

/** The database is behind the stream. */
function webhooksStepsOf(world: World, delivered: () => Promise<string>): Step[] {
  const { clients, ops } = world
  let copy: Collections = new Map()
  let takenAt = ''
  return [
    {
      name: 'the database of webhooks is copied, and play goes on',
      async run() {
        takenAt = new Date(Date.now() - marginMs).toISOString()
        copy = await whileStopped(world, 'webhooks', () =>
          withDatabase(world, 'pitboss_webhooks', readDocuments),
        )
        await clients.playFor(playMs)
        return delivered()
      },
    },
    {
      name: 'the database of webhooks is set back to the copy; the stream is ahead',
      async run() {
        const changed = new Map<string, number>()
        await replaced(world, 'webhooks', () =>
          withDatabase(world, 'pitboss_webhooks', (db) =>
            setBackDocuments(db, copy, (name) => changed.set(name, (changed.get(name) ?? 0) + 1)),
          ),
        )
        return `documents that are not as they were: ${[...changed].map(([name, count]) => `${name} ${count}`).join(', ')}`
      },
    },
    {
      name: 'ops consumer rewind webhooks-fanout --from-time T',
      async run() {
        const order = ['consumer', 'rewind', 'webhooks-fanout', '--from-time', takenAt, ...because]
        const { seen, repaired, unchanged, parked } = rewound.parse(await ops(...order))
        if (repaired === 0) throw new Error('the rewind repaired nothing')
        return [
          `${seen} messages seen again: ${repaired} repaired, ${unchanged} unchanged, ${parked} parked`,
          await delivered(),
        ]
      },
    },
  ]
}

/** The stream is older than the database, and nobody has recorded what it lost: the journals resend it. */
function brokerStepsOf(world: World, delivered: () => Promise<string>): Step[] {
  const { clients } = world
  return [
    {
      name: 'the files of the broker are copied, play goes on while webhooks stands still, and they are set back',
      playIsOff: true,
      async run() {
        const stored = join(world.dataDir, 'nats', 'nats', 'jetstream')
        await whileStopped(world, 'webhooks', async () => {
          const before = brokerPid(world)
          process.kill(before, 'SIGSTOP')
          cpSync(stored, `${stored}-copy`, { recursive: true })
          process.kill(before, 'SIGCONT')
          await clients.playFor(playMs)
          process.kill(before, 'SIGSTOP')
          renameSync(stored, `${stored}-lost`)
          renameSync(`${stored}-copy`, stored)
          await killBroker(world, backWithinMs)
        })
        await clients.playOn()
        return delivered()
      },
    },
  ]
}

function now(): string {
  return new Date().toISOString()
}

/** Runs `work` while the processes of a service stand still. */
async function whileStopped<Result>(
  world: World,
  service: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const pids = signalAll(world, service, 'SIGSTOP')
  try {
    await delay(quietMs)
    return await work()
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT')
  }
}

/** Runs `work` while the processes of a service stand still, and has new ones started after it. */
async function replaced(world: World, service: string, work: () => Promise<void>): Promise<void> {
  const pids = signalAll(world, service, 'SIGSTOP')
  await delay(quietMs)
  await work()
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  const isNew = () => {
    const present = pidsOf(world, service)
    return present.length === pids.length && present.every((pid) => !pids.includes(pid))
  }
  await waitFor(isNew, { timeoutMs: backWithinMs, what: `new processes of ${service}` })
}
