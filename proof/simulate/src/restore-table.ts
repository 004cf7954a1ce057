import type { Random } from '@pitboss/chaos/random'
import type { Restored } from './faults.ts'
import type { Fleet } from './fleet.ts'
import { createMachine, type Machine } from './machine.ts'
import { healRounds } from './restore-rounds.ts'
import type { World } from './world.ts'

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
  const { timeline, rounds, reports, grants, limits, movements, trace: note, onError } = world
  const isOf = (table: 'rounds' | 'movements') => restored === table || restored === 'both'
  const isOfMovementsAlone = restored === 'movements'
  const downAtMs = random.between(downAfterMs.least, downAfterMs.most)
  const names = {
    rounds: isOfMovementsAlone ? [] : ['rounds-1', 'rounds-2'],
    movements: isOf('movements') ? ['bridge-1', 'bridge-2'] : [],
  }
  const away = [...names.rounds, ...names.movements]
  const setBacks: (() => void)[] = []
  const copies = {
    rounds: () => {
      const setBacks = [rounds.backUp(), reports.backUp()]
      return () => setBacks.map((setBack) => setBack())[0] ?? ''
    },
    grants: () => copyOf(grants, timeline.nowMs()),
    limits: () => copyOf(limits, timeline.nowMs()),
    movements: () => movements.backUp(),
  }
  const copyNow = (name: keyof typeof copies) => {
    const setBack = copies[name]()
    setBacks.push(() => note(`the ${name} are set back, ${setBack()}`))
  }
  /** Uses of free bets are in the database of rounds. */
  const backUp = (name: keyof typeof copies) => {
    copyNow(name)
    if (name === 'rounds') copyNow('grants')
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
  for (const name of restored === 'both' ? (['rounds', 'movements'] as const) : [restored]) {
    const begin = () => whileStaking(() => backUp(name), downMs - 1)
    timeline.after(Math.max(1, downAtMs - (name === 'movements' ? ages.movements : ages.rounds)), begin)
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
function copyOf<Row>(
  model: {
    readonly table: ReadonlyMap<string, Row>
    restore(backup: ReadonlyMap<string, Row>, backedUpAtMs: number): void
  },
  backedUpAtMs: number,
): () => string {
  const backup = new Map(model.table)
  return () => {
    const before = model.table.size
    model.restore(backup, backedUpAtMs)
    return `${before} to ${backup.size}`
  }
}
