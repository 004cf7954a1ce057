import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { costs, ground } from '../src/capacity/measured-costs.ts'
import { type Costs, coresAt, passedAt, planCapacity } from '../src/capacity/plan-capacity.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const demandOf = (roundsPerSecond: number) => ({ operators: 100, roundsPerSecond, readsPerRound: 0 })

/** Cores at rest, and milliseconds of a round. */
const parts: Readonly<Record<string, readonly [number, number]>> = {
  gateway: [0.1, 1],
  auth: [0.05, 0.1],
  rounds: [0.1, 5],
  'wallet-bridge': [0.1, 3],
  webhooks: [0.1, 4],
  engines: [0.5, 10],
}
/** Cores at so many rounds a second, each of which costs the same. */
const pointAt = (roundsPerSecond: number) => ({
  roundsPerSecond,
  cores: Object.fromEntries(
    Object.entries(parts).map(([name, [idle, ms]]) => [name, idle + (roundsPerSecond * ms) / 1000]),
  ),
})
const flat: Costs = {
  ...costs,
  points: [pointAt(0), pointAt(100)],
  bytesPerRound: { rounds: 1000, wallet_bridge: 2000, webhooks: 3000, events_stream: 500 },
  documentsPerRound: { rounds: 5, wallet_bridge: 4, webhooks: 10 },
}

t.test('a replica costs what was measured at its rate, and in proportion beyond', (t) => {
  for (const { roundsPerSecond, cores } of costs.points) {
    for (const [name, seen] of Object.entries(cores))
      t.equal(coresAt(name, costs, demandOf(roundsPerSecond)), seen, `${name} at ${roundsPerSecond}`)
  }
  t.equal(coresAt('rounds', flat, demandOf(50)).toFixed(3), '0.350')
  t.equal(coresAt('rounds', flat, demandOf(200)).toFixed(3), '1.200')
  t.equal(
    coresAt('rounds', flat, { ...demandOf(50), readsPerRound: 2 }).toFixed(3),
    (0.35 + 0.1 * (costs.readMs.rounds ?? 0)).toFixed(3),
  )
  t.end()
})

t.test('a plan is what its costs add up to', (t) => {
  const plan = planCapacity(flat, ground, demandOf(160))
  // 0.8 of a core at 0.325 less 0.1 each: four replicas of rounds.
  t.strictSame(
    plan.services.map(({ name, replicas }) => `${name} ${replicas}`),
    ['gateway 3', 'auth 3', 'rounds 4', 'wallet-bridge 3', 'webhooks 3'],
  )
  t.equal(plan.services[2]?.cores.toFixed(3), '1.200')
  t.equal(plan.engineCores.toFixed(3), '2.400')
  t.equal(plan.eventsPerSecond, 560)
  t.equal(plan.walletCallsPerSecond, 240)
  t.equal(plan.streamBytes, 500 * 160 * 3600 * 20)
  t.match(plan.databases[0], { documentsPerSecond: 800, shards: 1, bytesPerMonth: 1000 * 160 * 86_400 * 30 })
  t.equal(planCapacity(flat, ground, demandOf(2001)).databases[2]?.shards, 2)
  t.end()
})

t.test('limits come in the order in which growth meets them, each with its remedy', (t) => {
  const demand = demandOf(1)
  const plan = planCapacity(flat, ground, demand)
  const rates = plan.limits.map(({ roundsPerSecond }) => roundsPerSecond)
  t.strictSame(
    rates,
    [...rates].sort((a, b) => a - b),
  )
  t.ok(plan.limits.every(({ remedy }) => remedy.length > 0))
  t.match(plan.limits[0], { name: 'recording of events: one replica of webhooks at a time, on one core' })
  const stream = plan.limits.find(({ name }) => name.startsWith('the stream'))
  t.equal(stream?.roundsPerSecond, (16_384 * 2 ** 20) / (500 * 3600 * 20))
  const passed = (times: number) => passedAt(plan, demand, times).map(({ name }) => name.split(':')[0])
  t.strictSame(passed(100), [])
  t.strictSame(passed(400), ['recording of events'])
  t.strictSame(passed(1000), [
    ...['recording of events', 'webhooks', 'the stream', 'wallet-bridge', 'rounds'],
  ])
  t.end()
})

t.test('the command prints a plan, and refuses what it cannot read', (t) => {
  const run = (...flags: string[]) =>
    spawnSync(process.execPath, [`${root}proof/bench/src/capacity/capacity-main.ts`, ...flags], {
      encoding: 'utf8',
    })
  const { stdout, status } = run('--operators', '20', '--rounds-per-second', '50')
  t.equal(status, 0)
  for (const words of [
    'rounds and 100 reads a second',
    'NATS: 3 nodes',
    'shards',
    'a month',
    '1,000 times, 50,000',
  ])
    t.ok(stdout.includes(words), words)
  t.equal(run('--operators', '20').status, 2)
  t.equal(run('--operators', '0', '--rounds-per-second', '1').status, 2)
  t.equal(run('--operators', '1', '--rounds-per-second', 'many').status, 2)
  t.end()
})
