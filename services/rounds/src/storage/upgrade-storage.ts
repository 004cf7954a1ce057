import type { RenderedEvent } from '@pitboss/storage/rendered-event'
import { append, load } from '@pitboss/storage/journal/journal'
import { readIndexes } from '@pitboss/storage/read-indexes'
import type { Db } from 'mongodb'
import type { Logger } from 'pino'
import type { Refusal } from '../rules/refusal.ts'
import { isUnfinished, owesSomething } from '../rules/round.ts'
import { decodeRound, type FactEntry, fieldsOf, type RoundDocument } from './round-document.ts'
import { claimsOfFact, type RoundFact, streamOf } from './round-stream.ts'
import { appendTo, type RoundsJournal } from './round-streams.ts'
import type { RoundsStore } from './rounds-store.ts'
import { type SessionDocument, sessionStream } from './sessions-store.ts'

type OlderRound = RoundDocument & {
  readonly outbox?: readonly RenderedEvent[]
  readonly facts?: readonly FactEntry[]
}

/** A page's request that was refused, in the place of a round. */
type OlderRefusal = Refusal & {
  readonly _id: string
  readonly chain: string
  readonly openedUnder: string
  readonly requestHash: string
}

const epoch = new Date(0)
const writeMs = 10_000

type Upgrading = {
  readonly db: Db
  readonly journal: RoundsJournal
  readonly rounds: Pick<RoundsStore, 'takeIn' | 'killRequest'>
  readonly logger: Logger
}

/**
 * Takes what releases before the journal have left into it. An `_id` decides each step: it may be repeated
 * and run twice at once, but beside no process of such a release. Source: docs/versioning.md.
 */
export async function upgradeStorage(context: Upgrading): Promise<void> {
  const { db, rounds, logger } = context
  await takeSessions(context)
  const names = (await readIndexes(db, 'rounds')).map(({ name }) => String(name))
  // A database that was never older has none of these; one that is not any more has dropped them.
  if (!names.includes('one_unfinished')) return
  let taken = 0
  const older = db.collection<OlderRound>('rounds')
  const waiting = [
    { filter: { unfinished: true }, hint: 'one_unfinished' },
    { filter: isSet('dueAt'), hint: 'scope_due' },
    { filter: isSet('outboxAt'), hint: 'outbox_at' },
    { filter: isSet('factsAt'), hint: 'facts_at' },
  ]
  for (const { filter, hint } of waiting) {
    for await (const document of older.find({ ...filter, n: { $exists: false } }).hint(hint)) {
      await takeRound(context, document)
      taken += 1
    }
  }
  const refusals = db.collection<OlderRefusal>('rounds')
  const refused = refusals.find(isSet('forgetAt')).hint('forget_at')
  for await (const { _id, chain, openedUnder, requestHash, code, message, details } of refused) {
    const dead = { kind: 'request', code, message, details, requestHash, meaning: null } as const
    await rounds.killRequest(chain, openedUnder, dead)
    await refusals.deleteOne({ _id, chain })
    taken += 1
  }
  if (taken > 0) logger.info({ documents: taken }, 'storage.upgraded')
}

/** Of a release whose sessions held their events until they were sent. */
type OlderSession = SessionDocument & { readonly outbox: readonly RenderedEvent[]; readonly outboxAt: Date }

/** Such a release may still run beside this one: what it leaves is taken at the next start. */
async function takeSessions({ db, journal: { journal } }: Upgrading): Promise<void> {
  const older = db.collection<OlderSession>('sessions')
  for await (const document of older.find(isSet('outboxAt')).hint('outbox_at')) {
    const { outbox: events, outboxAt: _at, version: _version, ...session } = document
    const stream = sessionStream(session, session._id)
    await appendTo({ journal }, stream, 0, { facts: [{ session }], events })
    await older.updateOne({ _id: session._id }, { $unset: { outbox: '', outboxAt: '' } })
  }
}

async function takeRound({ journal: running, rounds }: Upgrading, document: OlderRound): Promise<void> {
  const { journal, listed } = running
  const { outbox = [], facts = [] } = document
  const base = fieldsOf(document)
  // The place of a lost round has no scope.
  if (base.scope === undefined) return
  const round = decodeRound(base)
  const stream = streamOf(round)
  const isOpen = isUnfinished(round) || owesSomething(round)
  const counted = facts.map((fact): RoundFact => ({ counted: fact }))
  const first: RoundFact = isOpen ? { base } : { base, isOlder: true }
  const untilMs = journal.steadyMs() + writeMs
  const decided = { facts: [first], claims: claimsOfFact(first) } as const
  const begun = await append(journal, stream, 0, decided, untilMs)
  if (begun.kind === 'claimed') throw new Error(`${stream} is in the journal under another name`)
  if (begun.kind === 'unknown')
    throw new Error(`it is not known whether ${stream} was taken into the journal`)
  const { last } = await load(journal, stream)
  if (last === 1 && outbox.length + counted.length > 0)
    await append(journal, stream, 1, { facts: [{ change: {} }, ...counted], events: outbox }, untilMs)
  const known = await load(journal, stream)
  if (isOpen) rounds.takeIn(stream, known.entries)
  await listed(stream, known.last)
}

function isSet(field: string) {
  return { [field]: { $gt: epoch } }
}
