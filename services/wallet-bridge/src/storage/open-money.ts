import type { Instances } from '@pitboss/storage/journal/instances'
import type { Duty } from '@pitboss/storage/journal/duties'
import { type Journal, reload } from '@pitboss/storage/journal/journal'
import { streamOf } from '@pitboss/storage/journal/journal-keys'
import type { JournalWork } from '@pitboss/storage/journal/journal-process'
import { type JournalOptions, openJournal, type RunningJournal } from '@pitboss/storage/journal/open-journal'
import type { Db } from 'mongodb'
import type { Registry } from 'prom-client'
import type { ScaleMs } from '../rules/retry-schedule.ts'
import {
  isSettled,
  type MoneyEntry,
  type MoneyFact,
  moneyOf,
  moneyStream,
  type RoundMoney,
} from './round-money.ts'
import { createListedMovements, listedAfter, type ListedMovements } from './listed-movements.ts'
import { createMovementStore } from './movement-store.ts'
import { claimsOf, takeOverMoney } from './take-over-money.ts'
import { createUnfinishedMovements, type UnfinishedMovements } from './unfinished-movements.ts'

type MoneyOptions = Omit<JournalOptions<MoneyFact>, keyof JournalWork<MoneyFact>> & {
  readonly db: Db
  readonly registry: Registry
  readonly scaleMs: ScaleMs
  /** Whether the database has movements of earlier builds. */
  readonly hasEarlier: () => boolean
  /** Complete when `running` starts. */
  readonly duties: readonly Duty<MoneyFact>[]
  /** Called with each audit entry that an entry of this process has. */
  readonly onAudit?: (auditId: string) => void
}

export type OpenMoney = Awaited<ReturnType<typeof openMoney>>

/** What a journal does for the money of rounds. @param own what the process has once its journal is open */
export function moneyOptions(
  lists: Pick<ListedMovements, 'write' | 'unowned'>,
  own: () => {
    readonly journal: Journal<MoneyFact>
    readonly unfinished: UnfinishedMovements
    readonly instances: Pick<Instances, 'readExited'>
  },
): JournalWork<MoneyFact> {
  return {
    list: (_stream, entries) => lists.write(listedAfter(entries)),
    isFinished: (entries) => isSettled(moneyOf(entries)),
    claimsOf,
    takeOver(stream) {
      const { journal, unfinished, instances } = own()
      return takeOverMoney(journal, stream, unfinished, instances)
    },
    async unfinished(limit, alive) {
      const found = await lists.unowned(limit, alive)
      return [...new Set(found.map(moneyStream))]
    },
    forgetWork: () => own().unfinished.clear(),
  }
}

/** Opens the journal of money and its views. Call `running.start()` once the storage is upgraded. */
export async function openMoney({
  db,
  scaleMs,
  hasEarlier,
  duties,
  onAudit = () => undefined,
  ...given
}: MoneyOptions) {
  /** The round's money that an entry belongs to, as a majority has it. */
  const readMoney = async ({ _id }: MoneyEntry): Promise<RoundMoney> =>
    moneyOf((await reload(running.journal, streamOf(_id))).entries)
  const lists = createListedMovements(db)
  const running: RunningJournal<MoneyFact> = await openJournal<MoneyFact>({
    ...given,
    db,
    ...moneyOptions(lists, () => {
      const { journal, instances } = running
      return { journal, unfinished, instances }
    }),
    duties,
  })
  const { journal } = running
  const unfinished = createUnfinishedMovements({ journal, scaleMs })
  const isListed = (stream: string, number: number) => running.listed(stream, number)
  const movements = createMovementStore({ journal, unfinished, lists, isListed, hasEarlier, onAudit })
  return { running, journal, lists, unfinished, movements, isListed, readMoney }
}
