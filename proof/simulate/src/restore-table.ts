import type { Random } from '@pitboss/chaos/random'
import type { Fleet } from './fleet.ts'
import { createMachine, type Machine } from './machine.ts'
import { healRounds } from './restore-rounds.ts'
import type { World } from './world.ts'

type Restored = 'rounds' | 'movements' | 'both'

/** From the death of the processes to the restore: what they had asked for has arrived. */
const quietMs = { one: 20_000, both: 80_000 }
/** From the beginning to the death of the processes; so long before it, at most, lies what is restored. */
const downAfterMs = { least: 4000, most: 10_000 }
/** The latest restore, after the beginning. */
export const restoredByMs = (restored: Restored) => downAfterMs.most + quietOf(restored)
/** With both set back nobody but the events knows better, and they are asked about old stakes alone. */
const quietOf = (restored: Restored) => (restored === 'both' ? quietMs.both : quietMs.one)
const backupAgeMs = 6000

/** A machine that nothing disturbs. */
export function createOperations({ timeline, random, faults, trace }: World, name = 'operations'): Machine {
  const fair = { ...faults, fair: () => true }
  const at = { timeline, random: random.fork(name), faults: fair, trace }
  return createMachine(name, { ...at, onDeath: () => undefined })
}

/**
 * Takes the processes of the tables away, sets each back to a moment of its own, and starts the processes
 * again; operations do meanwhile what the runbook says. The operator's wallet keeps what it was told.
 */
export function restoreTable(
  restored: Restored,
  {
    fleet,
    world,
    random,
    start,
  }: { fleet: Fleet; world: World; random: Random; start: (name: string) => void },
): void {
  const { timeline, rounds, movements, trace: note, onError } = world
  const isOf = (table: Restored) => restored === table || restored === 'both'
  const downAtMs = random.between(downAfterMs.least, downAfterMs.most)
  const names = {
    rounds: isOf('rounds') ? ['rounds-1', 'rounds-2'] : [],
    movements: isOf('movements') ? ['bridge-1', 'bridge-2'] : [],
  }
  const away = [...names.rounds, ...names.movements]
  const setBacks: (() => void)[] = []
  const backUp = (table: 'rounds' | 'movements') => {
    const setBack = table === 'rounds' ? copyOf(rounds) : copyOf(movements)
    setBacks.push(() => note(`the ${table} are set back, ${setBack()}`))
  }
  // Backups of both are made while a stake is under way, and half of them at one moment.
  const whileStaking = (work: () => void, latestMs: number): void => {
    const isStaking = [...movements.table.values()].some(({ type, call }) => type === 'BET' && call !== null)
    if (restored !== 'both' || isStaking || timeline.nowMs() >= latestMs) work()
    else timeline.after(1, () => whileStaking(work, latestMs))
  }
  const atOnce = random.chance(0.5)
  const [ofRounds, ofMovements] = [random.between(1, backupAgeMs), random.between(1, backupAgeMs)]
  const downMs = timeline.nowMs() + downAtMs
  const ages = { rounds: ofRounds, movements: atOnce ? ofRounds : ofMovements }
  for (const table of ['rounds', 'movements'] as const) {
    const begin = () => whileStaking(() => backUp(table), downMs - 1)
    if (isOf(table)) timeline.after(Math.max(1, downAtMs - ages[table]), begin)
  }
  timeline.after(downAtMs, () => {
    fleet.away = new Set(away)
    for (const name of away) fleet.machines.get(name)?.kill()
  })
  timeline.after(downAtMs + quietOf(restored), () => {
    for (const setBack of setBacks) setBack()
    fleet.away = new Set(names.rounds)
    for (const name of names.movements) start(name)
    const healed = isOf('rounds') ? healRounds(createOperations(world), world) : Promise.resolve()
    healed.then(() => {
      fleet.away = new Set()
      note(`what was set back is healed`)
      for (const name of names.rounds) start(name)
    }, onError)
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
