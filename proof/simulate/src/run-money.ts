import { moneyOf, moneyStream, isSettled, type MoneyFact } from '@pitboss/wallet-bridge/storage/round-money'
import { listedAfter } from '@pitboss/wallet-bridge/storage/listed-movements'
import { createMovementStore } from '@pitboss/wallet-bridge/storage/movement-store'
import { claimsOf, takeOverMoney } from '@pitboss/wallet-bridge/storage/take-over-money'
import { createUnfinishedMovements } from '@pitboss/wallet-bridge/storage/unfinished-movements'
import type { Machine } from './machine.ts'
import { type ModelRunning, runModelJournal } from './run-model-journal.ts'
import type { World } from './world.ts'

/** The storage of one wallet-bridge, wired as its `open-money.ts` does, over the model's database. */
export function runMoney(machine: Machine, world: World) {
  const { movements: model, scaleMs } = world
  const lists = model.listsOf(machine)
  const running: ModelRunning<MoneyFact> = runModelJournal<MoneyFact>(machine, world, {
    store: model.journal.storeOf(machine),
    instances: model.instances.of(machine),
    options: {
      list: (_stream, entries) => lists.write(listedAfter(entries)),
      isFinished: (entries) => isSettled(moneyOf(entries)),
      claimsOf,
      takeOver: (stream) => takeOverMoney(running.journal, stream, unfinished),
      async unfinished(limit, alive) {
        const found = await lists.unowned(limit, alive)
        return [...new Set(found.map(moneyStream))]
      },
      forgetWork: () => unfinished.clear(),
    },
  })
  const { journal } = running
  const unfinished = createUnfinishedMovements({ journal, scaleMs })
  const isListed = (stream: string, number: number) => running.listed(stream, number)
  const movements = createMovementStore({ journal, unfinished, lists, isListed })
  return { running, unfinished, movements }
}
