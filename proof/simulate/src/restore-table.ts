import type { Random } from '@pitboss/chaos/random'
import type { Fleet } from './fleet.ts'
import { createMachine, type Machine } from './machine.ts'
import { healRounds } from './restore-rounds.ts'
import type { World } from './world.ts'

/** From the death of the processes to the restore: what they had asked for has arrived. */
const quietMs = 20_000
/** The restore, after the beginning; and at most so long before it, the state that is restored. */
export const restoredAfterMs = { least: 24_000, most: 30_000 }
const backupAgeMs = 6000

/** A machine that nothing disturbs. */
export function createOperations({ timeline, random, faults, trace }: World, name = 'operations'): Machine {
  const fair = { ...faults, fair: () => true }
  const at = { timeline, random: random.fork(name), faults: fair, trace }
  return createMachine(name, { ...at, onDeath: () => undefined })
}

/**
 * Takes the processes of a table away, sets it back, and starts them again; rounds are healed before that as
 * the runbook says. The operator's wallet keeps what it was told.
 */
export function restoreTable(
  table: 'rounds' | 'movements',
  {
    fleet,
    world,
    random,
    start,
  }: { fleet: Fleet; world: World; random: Random; start: (name: string) => void },
): void {
  const { timeline, rounds, movements, trace: note, onError } = world
  const ageMs = random.between(1, backupAgeMs)
  const downAtMs = random.between(restoredAfterMs.least, restoredAfterMs.most) - quietMs
  const names = table === 'rounds' ? ['rounds-1', 'rounds-2'] : ['bridge-1', 'bridge-2']
  timeline.after(Math.max(1, downAtMs - ageMs), () => {
    const setBack = table === 'rounds' ? copyOf(rounds) : copyOf(movements)
    timeline.after(ageMs, () => {
      fleet.away = new Set(names)
      for (const name of names) fleet.machines.get(name)?.kill()
    })
    timeline.after(ageMs + quietMs, () => {
      note(`the ${table} are set back, ${setBack()}`)
      const healed = table === 'rounds' ? healRounds(createOperations(world), world) : Promise.resolve()
      healed.then(() => {
        fleet.away = new Set()
        note(`the ${table} are healed`)
        for (const name of names) start(name)
      }, onError)
    })
  })
}

/** Remembers the rows of this moment. @returns the function that brings them back and says how many */
function copyOf<Row>(model: {
  table: ReadonlyMap<string, Row>
  restore: (backup: ReadonlyMap<string, Row>) => void
}): () => string {
  const backup = new Map(model.table)
  return () => {
    const before = model.table.size
    model.restore(backup)
    return `${before} to ${backup.size}`
  }
}
