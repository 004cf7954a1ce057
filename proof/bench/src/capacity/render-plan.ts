import { renderTable } from '../harness/table.ts'
import { type Demand, passedAt, type Plan } from './plan-capacity.ts'

/** The shard keys of docs/scaling.md, by database, and what forbids them today. */
const shardKeys: Readonly<Record<string, string>> = {
  rounds: 'journal, sessions and grants by { _id: 1 }, rounds by { chain: 1 }',
  wallet_bridge:
    "journal by { _id: 1 }, movements by { _id: 'hashed' }; today movements stay on one shard: a unique index",
  webhooks: 'log and ranges by { _id: 1 }, deliveries by { webhookId: 1, _id: 1 }',
}

const times = [1, 10, 100, 1000] as const

/** A plan as a person reads it. */
export function renderPlan(plan: Plan, demand: Demand): string {
  const { operators, roundsPerSecond, readsPerRound } = demand
  return [
    `${operators} operators, ${roundsPerSecond} rounds and ${number(roundsPerSecond * readsPerRound)} reads a second; half of the rounds won, one endpoint an operator.`,
    renderTable(
      ['service', 'cores', 'replicas'],
      plan.services.map(({ name, cores, replicas }) => [name, cores.toFixed(2), String(replicas)]),
    ),
    `Databases and broker: ${plan.engineCores.toFixed(2)} cores of the embedded engines; a real MongoDB was not measured.`,
    `NATS: ${plan.natsNodes} nodes, ${number(plan.eventsPerSecond)} events a second; ${gigabytes(plan.streamBytes)} of events on each. Wallets get ${number(plan.walletCallsPerSecond)} calls a second.`,
    renderTable(
      ['database', 'documents a second', 'shards', 'documents a month', 'shard keys'],
      plan.databases.map(({ name, documentsPerSecond, shards, bytesPerMonth }) => [
        name,
        number(documentsPerSecond),
        String(shards),
        gigabytes(bytesPerMonth),
        shards === 1 ? 'none needed' : (shardKeys[name] ?? 'none'),
      ]),
    ),
    'Documents as they are stored, before indexes, compression and copies on further nodes.',
    'What ends at how many rounds a second, the nearest first:',
    plan.limits
      .map(
        (limit) => `  ${number(limit.roundsPerSecond).padStart(7)}  ${limit.name}. Remedy: ${limit.remedy}.`,
      )
      .join('\n'),
    times.map((factor) => endsAt(plan, demand, factor)).join('\n'),
    'Computed from one machine of two cores, whose costs need not be those of yours: docs/capacity.md.',
  ].join('\n\n')
}

/** The first bottleneck of a demand that is `factor` times as great, and how many come after it. */
function endsAt(plan: Plan, demand: Demand, factor: number): string {
  const rate = `${number(factor)} times, ${number(demand.roundsPerSecond * factor)} rounds a second`
  const [first, ...more] = passedAt(plan, demand, factor)
  if (first === undefined) return `${rate}: nothing ends.`
  const rest = more.length === 0 ? '' : `; ${more.length} more of the list`
  return `${rate}: first bottleneck ${first.name}${rest}.`
}

function number(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Math.round(value * 10) / 10)
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(bytes < 1e10 ? 1 : 0)} GB`
}
