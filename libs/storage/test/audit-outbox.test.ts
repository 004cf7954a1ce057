import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { AuditEntry } from '@pitboss/contracts/audit'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import t from 'tap'
import {
  auditedInsert,
  auditedUpdate,
  auditOutboxIndex,
  createAuditOutbox,
  type WithAudit,
} from '../src/audit-outbox.ts'
import { ensureIndexes } from '../src/ensure-indexes.ts'
import { memoryLogger, testStorage } from './fixtures/test-storage.ts'

type Thing = WithAudit & { _id: string; name: string }

const program = fileURLToPath(new URL('fixtures/audit-process.ts', import.meta.url))
const clock = { now: () => new Date('2026-11-23T00:00:00.000Z') }
const by = {
  operator_id: null,
  actor: { kind: 'user', id: 'usr_1', name: 'ada@casino.example' },
  client_address: '192.0.2.1',
  request_id: 'req_1',
  reason: null,
} as const
const change = {
  act: 'thing.change',
  object: { type: 'thing', id: '1' },
  before: null,
  after: { name: 'new' },
}

const { db, engines } = await testStorage(t)
await ensureIndexes(db, { things: [auditOutboxIndex] })
const things = db.collection<Thing>('things')
const log = db.collection<{ _id: string }>('log')
const newThing = async () => {
  const entry = sampleAuditEntry()
  await things.insertOne({ _id: entry.audit_id, name: 'first', ...auditedInsert(entry) })
  return entry.audit_id
}

function outboxWith(append: (entries: readonly AuditEntry[]) => Promise<unknown>) {
  const { logger, lines } = memoryLogger()
  let made = 0
  const newId = (prefix: string) => `${prefix}_${++made}`
  return { lines, ...createAuditOutbox({ db, collections: ['things'], append, clock, newId, logger }) }
}

/** Runs the mover to its end. @returns the signal that ended it, or null */
async function runMover(failpoint: string | null): Promise<unknown> {
  const child = spawn(process.execPath, [program], {
    env: {
      MONGODB_URL: engines.mongodbUrl,
      DATABASE: db.databaseName,
      ...(failpoint === null ? {} : { PITBOSS_FAILPOINTS: `${failpoint}=kill` }),
    },
    stdio: 'inherit',
  })
  const [code, signal]: unknown[] = await once(child, 'close')
  return signal ?? code
}

for (const failpoint of ['audit.written', 'audit.appended', 'audit.taken']) {
  await t.test(`a process killed at ${failpoint} neither loses nor doubles an entry`, async (t) => {
    const id = await newThing()
    t.equal(await runMover(failpoint), 'SIGKILL')
    t.equal(await runMover(null), 0)
    t.equal(await log.countDocuments({ _id: id }), 1)
    t.match(await things.findOne({ _id: id }), { auditOutbox: [], auditOutboxAt: null })
    t.equal(await things.countDocuments({ auditOutboxAt: { $gt: new Date(0) } }), 0)
  })
}

t.test('a removed document goes after its entry has moved, and not before', async (t) => {
  const id = await newThing()
  await things.updateOne(
    { _id: id },
    auditedUpdate<Thing>({ $set: { auditRemoves: true } }, sampleAuditEntry()),
  )
  const appended: AuditEntry[] = []
  let isAway = true
  const outbox = outboxWith(async (entries) => {
    if (isAway) throw new Error('auth is away')
    appended.push(...entries)
  })
  await outbox.move()
  t.match(outbox.lines(), [{ msg: 'audit.deferred', document_id: id }])
  t.ok(await things.findOne({ _id: id }))
  isAway = false
  await outbox.move()
  t.equal(appended.length, 2)
  t.equal(await things.findOne({ _id: id }), null)
})

t.test('an entry that is written during a move is moved by the next', async (t) => {
  const id = await newThing()
  const appended: string[] = []
  const outbox = outboxWith(async (entries) => {
    appended.push(...entries.map(({ audit_id }) => audit_id))
    if (appended.length > 1) return
    await things.updateOne(
      { _id: id },
      auditedUpdate<Thing>({ $set: { name: 'second' } }, outbox.entry(by, change)),
    )
  })
  await outbox.move()
  t.equal((await things.findOne({ _id: id }))?.auditOutbox?.length, 1)
  await Promise.all([outbox.move(), outbox.move(), outbox.move()])
  t.equal(appended.length, 2)
  t.equal((await things.findOne({ _id: id }))?.auditOutboxAt, null)
})

t.test('a process moves at its start what a dead one has left', async (t) => {
  const id = await newThing()
  const moved = Promise.withResolvers<string | undefined>()
  const outbox = outboxWith(async ([entry]) => moved.resolve(entry?.audit_id))
  const stop = outbox.start()
  t.equal(await moved.promise, id)
  await stop()
})

t.test('an answer waits for the entries of its own call', async (t) => {
  const appended: AuditEntry[] = []
  const outbox = outboxWith(async (entries) => appended.push(...entries))
  const rename = outbox.following(async (name: string) => {
    const entry = outbox.entry(by, change)
    await things.insertOne({ _id: entry.audit_id, name, ...auditedInsert(entry) })
    return name
  })
  t.equal(await rename('new'), 'new')
  t.match(appended, [{ ...by, ...change, at: '2026-11-23T00:00:00.000Z' }])
})
