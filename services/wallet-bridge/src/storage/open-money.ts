import type { Instances } from '@pitboss/storage/journal/instances'
import type { Duty } from '@pitboss/storage/journal/duties'
import { type Claim, type Journal, adopt, load, reload } from '@pitboss/storage/journal/journal'
import { type StreamKey, entryNumber, streamOf } from '@pitboss/storage/journal/journal-keys'
import type { JournalWork } from '@pitboss/storage/journal/journal-process'
import { type JournalOptions, type RunningJournal, openJournal } from '@pitboss/storage/journal/open-journal'
import type { Db } from 'mongodb'
import type { Registry } from 'prom-client'
import type { ScaleMs } from '../rules/retry-schedule.ts'
import { type MoneyEntry, type MoneyFact, callersOf, claimOf, isSettled } from './round-money.ts'
import { type RoundMoney, appendWithinMs, moneyOf, moneyStream } from './round-money.ts'
import { type ListedMovements, createListedMovements, listedAfter } from './listed-movements.ts'
import { createMovementStore } from './movement-store.ts'
import { type UnfinishedMovements, createUnfinishedMovements } from './unfinished-movements.ts'
import { changeBetween } from '@pitboss/storage/journal/change-document'
import { withCallOver } from '../rules/movement.ts'

type MoneyOptions = Omit<JournalOptions<MoneyFact>, keyof JournalWork<MoneyFact>> & {
  readonly db: Db
  readonly registry: Registry
  readonly scaleMs: ScaleMs
  /** Whether the database has movements of earlier builds. */
  readonly hasEarlier: () => boolean
  /** Complete when `running` starts. */
  readonly duties: readonly Duty<MoneyFact>[]
  /** Called with each audit entry that an entry of this process has. */
  readonly onAudit: (auditId: string) => void
}

export type OpenMoney = Awaited<ReturnType<typeof openMoney>>

type OwnMoney = {
  readonly journal: Journal<MoneyFact>
  readonly unfinished: Pick<UnfinishedMovements, 'own'>
  readonly instances: Pick<Instances, 'readExited'>
}

/** What a journal does for the money of rounds. @param own what the process has once its journal is open */
export function moneyOptions(
  lists: Pick<ListedMovements, 'write' | 'newAmong' | 'unowned'>,
  own: () => OwnMoney & { readonly unfinished: UnfinishedMovements },
): JournalWork<MoneyFact> {
  return {
    list: (_stream, entries) => lists.write(listedAfter(entries)),
    newLists(entries) {
      const listed = listedAfter(entries)
      return listed.some(({ open }) => open === true) ? [] : lists.newAmong(listed)
    },
    isFinished: (entries) => isSettled(moneyOf(entries)),
    claimsOf,
    takeOver: (stream) => takeOverMoney(own(), stream),
    async unfinished(limit, alive) {
      const found = await lists.unowned(limit, alive)
      return [...new Set(found.map(moneyStream))]
    },
    forgetWork: () => own().unfinished.clear(),
  }
}

/** Opens the journal of money and its views. Call `running.start()` once the storage is upgraded. */
export async function openMoney({ db, scaleMs, hasEarlier, onAudit, ...given }: MoneyOptions) {
  /** The round's money that an entry belongs to, as a majority has it. */
  const readMoney = async ({ _id }: MoneyEntry): Promise<RoundMoney> =>
    moneyOf((await reload(running.journal, streamOf(_id))).entries)
  const lists = createListedMovements(db)
  const running: RunningJournal<MoneyFact> = await openJournal<MoneyFact>({
    ...{ ...given, db },
    ...moneyOptions(lists, () => ({ ...running, unfinished })),
  })
  const { journal } = running
  const unfinished = createUnfinishedMovements({ journal, scaleMs })
  const isListed = (stream: string, number: number) => running.listed(stream, number)
  const movements = createMovementStore({ journal, unfinished, lists, isListed, hasEarlier, onAudit })
  return { running, journal, lists, unfinished, movements, isListed, readMoney }
}

/**
 * Takes a round over whose owner is dead. Nobody acts on an entry before its claims are known. A call whose
 * process has ended is over with it; one of a process that may only stand still is waited for.
 * @throws Error when it is not known whether that stands: it is to be repeated
 */
export async function takeOverMoney(own: OwnMoney, stream: StreamKey): Promise<void> {
  const { journal, unfinished, instances } = own
  const untilMs = journal.steadyMs() + appendWithinMs
  const alsoOf = async (entries: readonly MoneyEntry[]): Promise<MoneyFact[]> => {
    const callers = callersOf(entries)
    const exited = await instances.readExited([...new Set(callers.values())])
    return callsOver(entries, (of) => exited.includes(callers.get(of) ?? ''), journal.now())
  }
  const adopted = await adopt(journal, stream, { adopted: { adopted: true }, claimsOf, alsoOf }, untilMs)
  if (adopted.kind === 'taken') return
  if (adopted.kind === 'unknown') throw new Error(`it is not known whether ${stream} is taken over`)
  const standing = await load(journal, stream)
  // What was read while this process appended may be older than its own entry.
  unfinished.own([...moneyOf(standing.entries).values()], entryNumber(adopted.entry._id))
}

/** The ends of calls that nobody is in any more. */
function callsOver(entries: readonly MoneyEntry[], isOver: (transactionId: string) => boolean, at: Date) {
  return [...moneyOf(entries)]
    .filter(([of, { call }]) => call !== null && isOver(of))
    .map(([of, movement]) => ({ of, ...changeBetween(movement, withCallOver(movement, at)) }))
}

export function claimsOf({ f }: MoneyEntry): readonly Claim[] {
  return f.flatMap((fact) => ('base' in fact ? [claimOf(fact.base._id)] : []))
}
