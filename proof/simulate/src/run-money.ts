import { type MoneyFact, moneyStream } from '@pitboss/wallet-bridge/storage/round-money'
import { createMovementStore } from '@pitboss/wallet-bridge/storage/movement-store'
import { moneyOptions } from '@pitboss/wallet-bridge/storage/open-money'
import { createUnfinishedMovements } from '@pitboss/wallet-bridge/storage/unfinished-movements'
import type { Machine } from './machine.ts'
import { type ModelRunning, runModelJournal } from './run-model-journal.ts'
import type { World } from './world.ts'

/** The storage of one wallet-bridge, wired as its `open-money.ts` does, over the model's database. */
export function runMoney(machine: Machine, world: World) {
  const { movements: model, scaleMs } = world
  const lists = model.listsOf(machine)
  const instances = model.instances.of(machine)
  const running: ModelRunning<MoneyFact> = runModelJournal<MoneyFact>(machine, world, {
    store: model.journal.storeOf(machine),
    instances,
    work: moneyOptions(lists, () => ({ journal: running.journal, unfinished, instances })),
  })
  const { journal } = running
  const waiting = createUnfinishedMovements({ journal, scaleMs })
  const noted = new Map<string, number>()
  const unfinished: typeof waiting = {
    ...waiting,
    own(movements, last) {
      for (const movement of movements) noted.set(moneyStream(movement), last)
      waiting.own(movements, last)
    },
  }
  const isListed = (stream: string, number: number) => running.listed(stream, number)
  const movements = createMovementStore({ journal, unfinished, lists, isListed })
  /** The last entry of a stream that this process has appended and knows to stand. */
  const notedTo = (stream: string) => noted.get(stream) ?? 0
  return { running, unfinished, movements, notedTo }
}
