import { changeBetween } from '@pitboss/storage/journal/change-document'
import type { Instances } from '@pitboss/storage/journal/instances'
import { adopt, type Claim, type Journal, load } from '@pitboss/storage/journal/journal'
import { entryNumber, type StreamKey } from '@pitboss/storage/journal/journal-keys'
import { withCallOver } from '../rules/movement.ts'
import { callersOf, type MoneyEntry, type MoneyFact, moneyOf } from './round-money.ts'
import { claimOf } from './movement-entry.ts'
import type { UnfinishedMovements } from './unfinished-movements.ts'

/** For how long an append is tried whose answer is lost. */
const appendWithinMs = 10_000

/**
 * Takes a round over whose owner is dead. Nobody acts on an entry before its claims are known. A call whose
 * process has ended is over with it; one of a process that may only stand still is waited for.
 * @throws Error when it is not known whether that stands: it is to be repeated
 */
export async function takeOverMoney(
  journal: Journal<MoneyFact>,
  stream: StreamKey,
  unfinished: Pick<UnfinishedMovements, 'own'>,
  instances: Pick<Instances, 'readExited'>,
): Promise<void> {
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
function callsOver(
  entries: readonly MoneyEntry[],
  isOver: (transactionId: string) => boolean,
  at: Date,
): MoneyFact[] {
  return [...moneyOf(entries)]
    .filter(([of, { call }]) => call !== null && isOver(of))
    .map(([of, movement]) => ({
      of,
      ...changeBetween(movement, { ...movement, ...withCallOver(movement, at) }),
    }))
}

export function claimsOf({ f }: MoneyEntry): readonly Claim[] {
  return f.flatMap((fact) => ('base' in fact ? [claimOf(fact.base._id)] : []))
}
