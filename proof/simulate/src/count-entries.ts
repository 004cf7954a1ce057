import { foldWith } from '@pitboss/bugs/rounds-journal-bugs'
import type { Machine } from './machine.ts'
import { runRounds } from './run-rounds.ts'
import type { World } from './world.ts'

/** Counts what no process has counted yet, as the reading of a report does. */
export async function countEntries(machine: Machine, world: World): Promise<void> {
  const { sums } = runRounds(machine, world)
  sums.by([foldWith({ fold: world.reports.foldOf(machine) }, world.has)])
  await sums.catchUp()
}
