import type { Random } from '@pitboss/chaos/random'
import type { Fleet } from './fleet.ts'
import type { World } from './world.ts'

/** Longer than the envelope of a stake. */
const outageMs = 17_000
const pauseMs = { least: 200, most: 12_000 }
/** As long as an election leaves an old primary in the belief that it is one. */
const lagMs = { least: 50, most: 12_000 }

/** Creates what happens to whole processes, besides what happens to them step by step. */
export function createDisturbance(fleet: Fleet, world: World, random: Random) {
  const { timeline, faults, movements, rounds, wallet, trace: note } = world
  const { machines, bridges, clocks, hints } = fleet

  return {
    start() {
      if (faults.crash > 0) timeline.after(random.between(100, 2000), disturb)
      timeline.after(random.between(100, 2000), meddle)
    },

    /** Works as the durable consumer of rounds: at least once, in some process. */
    hint(body: string): void {
      const roundId = /"round_id":"([^"]+)"/.exec(body)?.[1]
      if (roundId === undefined) return
      for (let times = random.between(0, 2); times > 0; times--) {
        const take = hints.get(random.pick(['rounds-1', 'rounds-2']))
        timeline.after(random.between(1, 5000), () => take?.(roundId))
      }
    },
  }

  /** Kills and pauses whole processes. */
  function disturb(): void {
    if (faults.fair()) return
    const machine = machines.get(random.pick([...machines.keys()]))
    if (random.chance(faults.outage)) {
      fleet.bridgesBackAtMs = timeline.nowMs() + outageMs
      for (const [name, one] of machines) if (name.startsWith('bridge')) one.kill()
    } else if (random.chance(0.5)) machine?.kill()
    else machine?.pause(random.between(pauseMs.least, pauseMs.most))
    timeline.after(random.between(200, 4000), disturb)
  }

  /** Steps clocks; has the wallet and people speak of movements that wait. */
  function meddle(): void {
    if (faults.fair()) return
    const { clockOffMs } = faults
    if (clockOffMs > 0) {
      const name = random.pick([...machines.keys()])
      clocks.set(name, random.between(-clockOffMs, clockOffMs))
      note(`the clock of ${name} is ${clocks.get(name)} ms ahead`)
    }
    if (random.chance(faults.lag)) {
      const name = random.pick([...machines.keys()])
      const ms = random.between(lagMs.least, lagMs.most)
      const { reads } = name.startsWith('bridge') ? movements : rounds
      reads.begin(name, ms)
      note(`the reads of ${name} lag for ${ms} ms, or until it writes`)
    }
    const waiting = [...movements.table.values()].filter(({ status }) => status === 'PENDING')
    const bridge = random.pick([...bridges.values()])
    if (waiting.length > 0 && random.chance(faults.callbacks)) {
      const { transactionId } = random.pick(waiting)
      note(`the wallet calls back about ${transactionId}`)
      bridge.callBack(transactionId)
    }
    const done = waiting.filter((movement) => wallet.hasDone(movement))
    if (done.length > 0 && random.chance(faults.people)) {
      const movement = random.pick(done)
      note(`a person resolves ${movement.transactionId}, which the wallet has done`)
      bridge.resolveAsDone(movement)
    }
    timeline.after(random.between(200, 3000), meddle)
  }
}
