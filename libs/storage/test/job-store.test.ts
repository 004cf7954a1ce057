import type { Scope } from '@pitboss/contracts/caller'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { waitFor } from '@pitboss/testing/wait-for'
import { randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'
import { createCursorCodec } from '../src/cursor.ts'
import { ensureIndexes } from '../src/ensure-indexes.ts'
import { createJobStore, type JobDocument, jobIndexes, newJob } from '../src/job-store.ts'
import { openJobs } from '../src/jobs.ts'
import { parseKeyring } from '../src/keyring.ts'
import { startJobWorkers } from '../src/start-job-workers.ts'
import { silentLogger, testStorage } from './fixtures/test-storage.ts'

/** A job that a person has cancelled stays cancelled, whoever works on it. */

const { db } = await testStorage(t)
await ensureIndexes(db, { jobs: jobIndexes })
const jobs = createJobStore(db.collection<JobDocument>('jobs'), 'auditOutbox')
const now = new Date('2026-11-27T10:00:00Z')
const later = (ms: number) => new Date(now.getTime() + ms)
let made = 0
function jobOf(scope: Scope, subject: string): JobDocument {
  made += 1
  return newJob({ id: `crt_${made}`, scope, subject, now })
}
const scopeOf = (): Scope => ({ operatorId: randomUUID(), environment: 'SANDBOX' })
const cursors = createCursorCodec({ keyring: parseKeyring(`k1:${randomBytes(32).toString('base64')}`) })
const kind = openJobs<JobDocument, 'auditOutbox'>({
  ...{ store: jobs, kind: 'job', cursors, placesMax: 1, logger: silentLogger },
  ...{ summary: ({ _id }) => ({ _id }), cancelled: () => ({}), audit: { entry: () => sampleAuditEntry() } },
  ...{ clock: { now: () => later(1) }, clockAheadMs: () => 0 },
})
const cancel = (job: JobDocument) => kind.cancel(job, sampleAuditEntry())

async function claimed(scope: Scope, subject: string) {
  const job = jobOf(scope, subject)
  await jobs.insert(job)
  const held = await jobs.claim(now, later(30_000))
  if (held === null || held === 'waits' || held._id !== job._id) throw new Error('somebody else has it')
  return held
}

t.test('who works on a cancelled job ends it as nothing else, and keeps it no longer', async (t) => {
  const held = await claimed(scopeOf(), 'a')
  t.match(await cancel(held), { status: 'CANCELLED', finishedAt: later(1) })
  t.notOk(await jobs.progress(held, { $set: { subject: 'b' } }))
  t.notOk(await jobs.renew(held, later(60_000)))
  t.notOk(await jobs.finish(held, {}, later(2)))
  t.equal(await jobs.claim(later(60_000), later(90_000)), null, 'nobody takes it up')
  t.match(await jobs.find(held, held._id), { status: 'CANCELLED', subject: 'a', finishedAt: later(1) })
})

t.test('of cancels and an end at the same moment one counts, and one entry tells of it', async (t) => {
  for (let round = 0; round < 20; round++) {
    const held = await claimed(scopeOf(), `race-${round}`)
    const ends = [cancel(held), jobs.finish(held, {}, later(2)), cancel(held)] as const
    const [one, isDone, other] = await Promise.all(ends)
    const stored = await jobs.find(held, held._id)
    t.equal(stored?.status, isDone ? 'DONE' : 'CANCELLED')
    t.strictSame([one.status, other.status], [stored?.status, stored?.status], 'each is told how it ended')
    t.equal(stored?.auditOutbox?.length ?? 0, isDone ? 0 : 1)
    t.match(await cancel(held), { status: stored?.status, finishedAt: stored?.finishedAt })
  }
})

t.test('nobody cancels a job of another account', async (t) => {
  const held = await claimed(scopeOf(), 'foreign')
  const stranger = { ...scopeOf(), subject: held.subject, _id: held._id, status: 'RUNNING' } as const
  await cancel({ ...held, ...stranger })
  t.match(await jobs.find(held, held._id), { status: 'RUNNING' })
  await jobs.finish(held, {}, now)
})

t.test('the next job of a subject begins when the cancelled one is let go, or has run out', async (t) => {
  const scope = scopeOf()
  const held = await claimed(scope, 'next')
  await cancel(held)
  const second = jobOf(scope, 'next')
  t.ok(await jobs.insert(second), 'it can be ordered at once')
  t.equal(await jobs.claim(later(1000), later(31_000)), 'waits', 'and waits for the step that is under way')
  const other = jobOf(scope, 'other')
  await jobs.insert(other)
  t.match(await jobs.claim(later(1000), later(31_000)), { _id: other._id }, 'others do not wait')
  await jobs.release(held)
  const taken = await jobs.claim(later(1000), later(31_000))
  t.match(taken, { _id: second._id })
  await cancel(second)
  const third = jobOf(scope, 'next')
  await jobs.insert(third)
  t.equal(await jobs.claim(later(30_000), later(60_000)), 'waits', 'whose process was killed')
  t.match(await jobs.claim(later(31_000), later(60_000)), { _id: third._id })
})

t.test('a worker stops at a cancelled job and lets its subject go', async (t) => {
  const scope = scopeOf()
  const first = jobOf(scope, 'worked')
  await jobs.insert(first)
  const begun: string[] = []
  const workers = startJobWorkers({
    ...{ jobs, placesMax: 2, event: 'job.interrupted' },
    async work({ job, signal }) {
      begun.push(job._id)
      if (job._id === first._id) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      else await jobs.finish(job, {}, new Date())
    },
    clock: { now: () => new Date() },
    clockAheadMs: () => 0,
    logger: silentLogger,
  })
  t.teardown(() => workers.stop())
  await waitFor(async () => begun.includes(first._id))
  await cancel(first)
  const second = jobOf(scope, 'worked')
  await jobs.insert(second)
  const ended = async () => (await jobs.find(scope, second._id))?.status === 'DONE'
  await waitFor(ended, { timeoutMs: 15_000, what: 'the next job has ended long before the claim runs out' })
  t.match(await jobs.find(scope, first._id), { status: 'CANCELLED' })
})
